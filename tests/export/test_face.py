from __future__ import annotations

import pytest

import deshred.export


@pytest.mark.parametrize("name", deshred.export.__all__)
def test_every_name_of_the_face_is_there(name: str) -> None:
    assert getattr(deshred.export, name) is not None


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'exprot'"):
        _ = deshred.export.exprot
