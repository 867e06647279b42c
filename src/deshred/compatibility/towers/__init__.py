"""Towers: every edge is encoded once, all joins are matrix products."""
