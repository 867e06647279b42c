"""What happens when a command is killed, the disk is full, or two processes meet."""
