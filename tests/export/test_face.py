from __future__ import annotations

import pytest

import deshred.export


@pytest.mark.parametrize("name", deshred.export.__all__)
def test_every_name_of_the_face_is_what_its_module_calls_so(name: str) -> None:
    found = getattr(deshred.export, name)
    assert getattr(found, "__name__", name) == name


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'exprot'"):
        _ = deshred.export.exprot
