"""Everything deshred raises on purpose, each with the exit code of the command line.

DeshredError                 1   something deshred did not expect
├── SettingsError            2   an option or a settings file that makes no sense
├── InputError               3   a file that is missing, unreadable, empty, or holds no shreds
├── OutputError              4   a folder that cannot be written, or is not ours to overwrite
├── MismatchError            5   results that belong to other shreds
├── ModelError               6   a model that is missing, damaged, or made for something else
├── InfeasibleError          7   constraints that contradict each other
├── MissingDependencyError   8   an optional part that is not installed
└── IntegrityError           9   a package, journal or seal that no longer is what it was

A message says what, where, the value, and what to try. Running into a time limit is not an
error: the `Arrangement` says so with its bound.
"""

from __future__ import annotations


class DeshredError(Exception):
    """The root: catch this to catch everything deshred raises on purpose."""

    exit_code = 1


class SettingsError(DeshredError):
    """An option or a settings file that makes no sense."""

    exit_code = 2


class InputError(DeshredError):
    """A file that is missing, unreadable, empty, or holds no shreds."""

    exit_code = 3


class OutputError(DeshredError):
    """A folder that cannot be written, or is not ours to overwrite."""

    exit_code = 4


class MismatchError(DeshredError):
    """Results that belong to other shreds than the ones given."""

    exit_code = 5


class ModelError(DeshredError):
    """A model that is missing, damaged, or made for something else."""

    exit_code = 6


class InfeasibleError(DeshredError):
    """Constraints that contradict each other; `clash` holds them, where they are known one by one."""

    exit_code = 7

    def __init__(self, message: str, clash: tuple[object, ...] = ()) -> None:
        super().__init__(message, clash)
        self.clash = clash

    def __str__(self) -> str:
        return str(self.args[0])


class MissingDependencyError(DeshredError):
    """An optional part that is not installed."""

    exit_code = 8


class IntegrityError(DeshredError):
    """A package, a journal or a seal that no longer is what it was."""

    exit_code = 9
