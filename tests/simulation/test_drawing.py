from pathlib import Path

import numpy as np
import pytest
from fontTools.ttLib import TTFont

from deshred.errors import SettingsError
from deshred.simulation import canvas
from deshred.simulation.drawing import PAGE_KINDS, DrawingOptions, draw_page
from deshred.simulation.phrases import LANGUAGES

FONTS = Path(canvas.__file__).parent / "fonts"
QUICK = DrawingOptions(dpi=100)
CLEAN = DrawingOptions(dpi=100, scanned=False)


def test_a_page_is_a4_at_300_dpi_unless_told_otherwise():
    assert draw_page("letter", np.random.default_rng(0)).shape == (3508, 2480, 3)


@pytest.mark.parametrize("kind", PAGE_KINDS)
def test_every_kind_carries_ink_but_is_mostly_paper(kind):
    for seed in range(2):
        page = draw_page(kind, np.random.default_rng(seed), options=CLEAN)
        assert page.dtype == np.uint8
        ink = (page.min(axis=2) < 128).mean()
        assert 0.0005 < ink < 0.25


@pytest.mark.parametrize("kind", [kind for kind in PAGE_KINDS if kind != "handwriting"])  # its ruling bleeds
def test_no_ink_touches_the_border_of_a_page(kind):
    for seed in range(2):
        page = draw_page(kind, np.random.default_rng(seed), options=CLEAN)
        for border in (page[:8], page[-8:], page[:, :8], page[:, -8:]):
            assert border.min() == 255, seed


def test_a_seed_gives_the_same_page_every_time_and_another_seed_another_page():
    first, again, other = (
        draw_page("form", np.random.default_rng(seed), options=QUICK) for seed in (4, 4, 5)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).mean() > 0.01


def test_a_scanned_page_has_paper_tone_and_noise_and_a_clean_one_has_not():
    scanned = draw_page("sparse", np.random.default_rng(1), options=QUICK)
    clean = draw_page("sparse", np.random.default_rng(1), options=CLEAN)
    assert scanned.max() < 255
    assert len(np.unique(scanned[:20])) > 1
    assert np.unique(clean[:20]).tolist() == [255]


def test_an_unknown_kind_and_an_absurd_resolution_are_refused_with_a_remedy():
    with pytest.raises(SettingsError, match="Try one of text, columns"):
        draw_page("poem", np.random.default_rng(0))
    with pytest.raises(SettingsError, match="50 to 1200"):
        DrawingOptions(dpi=5)


def test_every_typeface_can_write_the_scripts_it_claims():
    for face in {*canvas.BOOK_FACES, *canvas.OFFICE_FACES, canvas.GARAMOND}:
        for name in {face.regular, face.bold}:
            with TTFont(FONTS / name) as font:
                known = font.getBestCmap()
            for language in LANGUAGES:
                if language.script in face.scripts:
                    phrases = "".join(
                        language.subjects + language.predicates + language.endings + language.titles
                    )
                    missing = {char for char in phrases if ord(char) not in known}
                    assert not missing, (name, language.name)


def test_every_font_has_its_license_beside_it_and_all_stay_small():
    licenses = [path.name.removesuffix("-LICENSE.txt") for path in FONTS.glob("*-LICENSE.txt")]
    fonts = [path for path in FONTS.iterdir() if path.suffix in (".ttf", ".otf")]
    assert {name for name in licenses if any(font.name.startswith(name) for font in fonts)} == set(licenses)
    assert all(any(font.name.startswith(name) for name in licenses) for font in fonts)
    assert sum(path.stat().st_size for path in FONTS.iterdir()) < 4e6
