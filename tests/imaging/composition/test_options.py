"""Options that make no sense never reach a page."""

from __future__ import annotations

import pytest

from deshred.errors import SettingsError
from deshred.imaging.composition import CompositionOptions


@pytest.mark.parametrize("bad", [{"touching": 1.5}, {"touching": -0.1}, {"margin": -3}])
def test_options_that_make_no_sense_are_refused(bad):
    with pytest.raises(SettingsError, match=next(iter(bad))):
        CompositionOptions(**bad)


@pytest.mark.parametrize("edge", [{"touching": 0}, {"touching": 1}, {"margin": 0}])
def test_the_ends_of_their_ranges_are_allowed(edge):
    assert CompositionOptions(**edge)
