"""Chains of shreds onto pages of limited width."""
