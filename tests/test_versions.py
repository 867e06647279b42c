"""The versions that results depend on are those that are installed."""

from __future__ import annotations

import platform

import numpy as np

from deshred.versions import PACKAGES, VERSION, find_version, installed_versions


def test_an_installed_package_has_the_version_it_tells_itself() -> None:
    assert find_version("numpy") == np.__version__


def test_a_package_that_is_not_there_has_none() -> None:
    assert find_version("no-such-package-of-deshred") is None


def test_python_the_machine_and_every_package_needed_are_listed() -> None:
    versions = installed_versions()
    assert versions["python"] == platform.python_version()
    assert platform.machine() in versions["machine"]
    assert set(PACKAGES) <= set(versions)
    assert all(versions.values())


def test_the_version_has_three_numbers() -> None:
    assert [part.isdecimal() for part in VERSION.split(".")] == [True] * 3
