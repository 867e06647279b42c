"""The commands below `deshred experiment`."""
