"""Scorers without a network: the rivals of the paper.

Marques compares edges. Characters and words look at whole shreds and at the whole pile at once.
"""
