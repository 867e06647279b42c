"""The commands below `deshred train`."""
