"""`python -m deshred` is the command `deshred`."""

from deshred.cli import main

main()
