"""Scorers that learn nothing: the rivals of the paper."""
