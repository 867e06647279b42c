"""`python -m deshred` is the command `deshred`; heavy imports come late, so that Ctrl-C is quiet at once."""

import sys


def main() -> None:
    """Run the command line."""
    try:
        from deshred.cli import main as run

        run()
    except KeyboardInterrupt:  # before a command could say how to go on
        sys.exit(130)


if __name__ == "__main__":
    main()
