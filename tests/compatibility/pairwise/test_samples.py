from __future__ import annotations

import numpy as np
import pytest

from deshred.compatibility.pairwise.samples import SampleOptions, cut_page, join_samples, sample_page
from deshred.errors import SettingsError


def page_of_slanted_lines(height: int = 400, width: int = 600) -> np.ndarray:
    """Ink whose lines cross every cut, so that true joins continue and false ones do not."""
    y, x = np.mgrid[:height, :width]
    return ((y + x // 2) % 12 < 5).astype(np.uint8)


def test_only_the_outermost_columns_of_a_shred_are_noise() -> None:
    options = SampleOptions(shreds=10)
    ink = page_of_slanted_lines()
    edges = cut_page(ink, np.random.default_rng(0), options=options)
    for i in range(10):
        shred = ink[:, 60 * i : 60 * (i + 1)]
        np.testing.assert_array_equal(edges.rights[i][:, :-2], shred[:, -16:-2])
        np.testing.assert_array_equal(edges.lefts[i][:, 2:], shred[:, 2:16])
    noise = np.concatenate([edges.rights[:, :, -2:], edges.lefts[:, :, :2]])
    assert abs(noise.mean() - 0.5) < 0.02


def test_positives_continue_across_the_cut_and_negatives_are_other_pairs() -> None:
    options = SampleOptions(shreds=10, noise_columns=0, max_positives=50)
    ink = page_of_slanted_lines()
    samples = sample_page(ink, np.random.default_rng(0), options=options)
    windows = samples.windows(slice(None))[:, 0]
    true = {
        ink[y : y + 32, cut - 16 : cut + 16].tobytes()
        for cut in range(16, 600 - 15)
        for y in range(0, 400 - 31, 2)
    }
    assert all(window.tobytes() in true for window in windows[samples.labels == 1])
    assert not all(window.tobytes() in true for window in windows[samples.labels == 0])


def test_windows_come_from_all_joins_of_a_page_and_every_draw_cuts_elsewhere() -> None:
    options = SampleOptions(shreds=10, noise_columns=0, max_positives=200)
    ink = np.random.default_rng(0).integers(0, 2, (100, 600), np.uint8)
    cut_of = {ink[y, cut - 16 : cut + 16].tobytes(): cut for y in range(100) for cut in range(16, 585)}
    draws = []
    for seed in range(3):
        samples = sample_page(ink, np.random.default_rng(seed), options=options)
        tops = samples.windows(samples.labels.nonzero()[0])[:, 0, 0]
        draws.append({cut_of[top.tobytes()] for top in tops})
    assert [len(cuts) for cuts in draws] == [9, 9, 9]
    assert draws[0] != draws[1] != draws[2]


def test_a_page_lower_than_a_window_gives_no_sample() -> None:
    ink = np.ones((20, 600), np.uint8)
    assert len(sample_page(ink, np.random.default_rng(0), options=SampleOptions(shreds=10))) == 0


def test_samples_are_balanced_and_limited_per_page() -> None:
    options = SampleOptions(shreds=10, max_positives=70)
    samples = sample_page(page_of_slanted_lines(), np.random.default_rng(0), options=options)
    assert samples.labels.sum() == 70
    assert len(samples) == 140


@pytest.mark.parametrize("min_ink", [0.1, 0.3, 0.42])
def test_every_sample_has_enough_ink(min_ink: float) -> None:
    options = SampleOptions(shreds=10, min_ink=min_ink)
    samples = sample_page(page_of_slanted_lines(), np.random.default_rng(0), options=options)
    assert samples.windows(slice(None)).mean(axis=(1, 2, 3)).min() >= min_ink


def sparse_page(height: int = 400, width: int = 600) -> np.ndarray:
    """Slanted lines at the top, a thin rule below them, nothing further down."""
    ink = page_of_slanted_lines(height, width)
    ink[120:] = 0
    ink[200:202] = 1
    return ink


def test_faint_samples_have_any_ink_and_as_many_true_as_false_ones_have_none() -> None:
    options = SampleOptions(shreds=10, max_positives=60, faint_share=0.5)
    samples = sample_page(sparse_page(), np.random.default_rng(0), options=options)
    ink = samples.windows(slice(None)).mean(axis=(1, 2, 3))
    assert len(samples) == 120
    assert ink[:60].min() >= options.min_ink  # as without faint samples
    faint, labels = ink[60:], samples.labels[60:]
    assert ((faint > 0) & (faint < options.min_ink)).any()
    assert labels[faint > 0].sum() == 28
    assert labels[faint == 0].tolist() == [1, 1, 0, 0]


def test_faint_samples_lose_their_outermost_columns_to_nothing() -> None:
    options = SampleOptions(shreds=10, max_positives=60, faint_share=1)
    windows = sample_page(sparse_page(), np.random.default_rng(0), options=options).windows(slice(None))
    assert not windows[..., 14:18].any()
    assert windows[..., :14].any()


@pytest.mark.parametrize(("rows", "columns"), [(32, 32), (32, 64), (64, 32), (64, 64)])
def test_samples_come_in_all_sizes_of_the_paper(rows: int, columns: int) -> None:
    options = SampleOptions(rows=rows, columns=columns, shreds=10, max_positives=20)
    samples = sample_page(page_of_slanted_lines(), np.random.default_rng(0), options=options)
    assert samples.windows(slice(0, 5)).shape == (5, 1, rows, columns)
    assert samples.bits.nbytes == len(samples) * rows * columns // 8


def test_a_page_without_ink_gives_only_what_its_noise_could_give() -> None:
    blank = np.zeros((400, 600), np.uint8)
    assert len(sample_page(blank, np.random.default_rng(0), options=SampleOptions(shreds=10))) == 0


def test_samples_of_several_pages_keep_their_labels() -> None:
    options = SampleOptions(shreds=10, max_positives=10)
    parts = [sample_page(page_of_slanted_lines(), np.random.default_rng(i), options=options) for i in (1, 2)]
    joined = join_samples(parts)
    assert joined.labels.tolist() == ([1] * 10 + [0] * 10) * 2
    np.testing.assert_array_equal(joined.windows(slice(20, None)), parts[1].windows(slice(None)))


def test_a_page_too_narrow_for_its_shreds_is_refused() -> None:
    with pytest.raises(SettingsError, match="px per shred"):
        cut_page(np.zeros((100, 300), np.uint8), np.random.default_rng(0), options=SampleOptions())


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"rows": 48}, "32 or 64 px"),
        ({"min_ink": 1.0}, "min_ink must be a share"),
        ({"faint_share": 1.1}, "faint_share must"),
        ({"shreds": 2}, "at least 3 shreds"),
        ({"noise_columns": 17}, "noise_columns must"),
        ({"step": 0}, "a step of 1 px"),
    ],
)
def test_options_that_make_no_sense_are_refused(wrong: dict[str, float], told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        SampleOptions(**wrong)  # type: ignore[arg-type]
