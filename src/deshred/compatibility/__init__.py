"""Which shred fits to the right of which."""
