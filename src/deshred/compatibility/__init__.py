"""Who fits to the right of whom."""
