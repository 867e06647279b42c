"""Shreds on a scanned sheet: found, separated, cut out and made upright."""
