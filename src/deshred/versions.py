"""This version, and what is installed: the versions that results depend on."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

VERSION = "0.1.0"
PACKAGES = ("deshred", "numpy", "scipy", "opencv-python-headless", "pillow", "highspy", "onnxruntime")


def find_version(package: str) -> str | None:
    """The installed version of a package, or None."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def installed_versions() -> dict[str, str]:
    """Python, the machine, and the packages that results depend on."""
    versions = {"python": platform.python_version(), "machine": f"{platform.system()} {platform.machine()}"}
    found = {package: find_version(package) for package in PACKAGES}
    return versions | {package: number for package, number in found.items() if number is not None}
