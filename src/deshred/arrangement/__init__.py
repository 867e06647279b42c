"""The order: scores in, pages of shreds out. No pixels here."""
