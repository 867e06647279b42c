from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="needs deshred[train]")

from deshred.compatibility.fitting import write_close_look  # noqa: E402
from deshred.compatibility.fusion import FusionScorer  # noqa: E402
from deshred.compatibility.models import find_model  # noqa: E402
from deshred.compatibility.scoring import score  # noqa: E402
from deshred.compatibility.towers.closelook_training import (  # noqa: E402
    ChosenEdges,
    CloseLookNetwork,
    KnownLooks,
    fit_close_look,
    measure_loss,
    teach,
)
from deshred.errors import InputError  # noqa: E402
from deshred.imaging.preparation import prepare  # noqa: E402
from deshred.simulation.intact import draw_intact  # noqa: E402
from deshred.simulation.shredding import ShreddingOptions, shred_page  # noqa: E402


def draw_known(seed: int = 0, count: int = 24) -> KnownLooks:
    """A pile where the rows of true joins agree and those of others do not; scores are no help."""
    rng = np.random.default_rng(seed)
    rights, lefts = np.divmod(np.arange(count * 4), 4)
    lefts = (rights + lefts + 1) % count  # the four behind a shred
    is_true = lefts == (rights + 1) % count
    seen = rng.normal(0, 0.3, (count * 4, 40, 3)) + is_true[:, None, None]
    return KnownLooks(
        torch.from_numpy(seen.astype(np.float16)),
        torch.zeros(count * 4, 7),
        torch.zeros(count * 4),
        (torch.from_numpy(rights), torch.from_numpy(lefts)),
        torch.from_numpy(is_true),
        (torch.zeros(count), torch.zeros(count)),
    )


def everything(count: int) -> ChosenEdges:
    every = np.ones(count, bool)
    return ChosenEdges(every, (every, every))


def test_what_rows_tell_is_learned() -> None:
    look = teach([draw_known(seed) for seed in range(3)], steps=60, seed=0)
    taught, fresh = CloseLookNetwork(), draw_known(9)
    taught.load_state_dict({name: torch.from_numpy(value) for name, value in look.weights.items()})
    with torch.no_grad():
        before = float(measure_loss(CloseLookNetwork(), fresh, everything(24)))
        after = float(measure_loss(taught, fresh, everything(24)))
    assert before == pytest.approx(np.log(5), rel=1e-4)  # four joins and nobody, all alike
    assert after < before / 4


def test_a_neighbor_that_was_taken_away_is_nobody() -> None:
    """Of two shreds that touch, one is gone: the loss is that of believing in nobody."""
    pile = draw_known()
    is_there = np.zeros(24, bool)
    is_there[[3, 5]] = True
    chosen = ChosenEdges(is_there, (is_there, is_there))
    network = CloseLookNetwork()
    with torch.no_grad():
        loss = float(measure_loss(network, pile, chosen))
    # 3 and 5 have one join between them, so two of four edges have one rival beside nobody
    assert loss == pytest.approx(np.log(2) / 2, rel=1e-4)


def test_the_same_seed_teaches_the_same() -> None:
    one, two = (teach([draw_known()], steps=5, seed=4) for _ in range(2))
    assert one.to_card() == two.to_card()


def test_a_model_that_learned_to_look_says_how_far_to_believe_joins(tmp_path: Path) -> None:
    """From pages to beliefs, on a small pile: true joins are believed more than the others it looked at."""
    model = tmp_path / "mine.onnx"
    model.write_bytes(find_model("towers-isri").read_bytes())
    pages = draw_intact(4, np.random.default_rng(0))
    write_close_look(model, fit_close_look(model, pages[:3], piles=2))
    scorer = FusionScorer(model)
    image = np.repeat(255 * (1 - pages[3].ink[:, :, None]), 3, axis=2)
    cut = shred_page(image, np.random.default_rng(1), options=ShreddingOptions(shreds=20))
    torn = [one.to_shred(f"{i:02d}") for i, one in enumerate(cut)]
    assert score(prepare(torn, edges=scorer.edge_options), scorer).beliefs is None  # outlines say more
    cropped = [replace(shred, mask=np.ones_like(shred.mask)) for shred in torn]
    pile = prepare(cropped, edges=scorer.edge_options)
    beliefs = score(pile, scorer).beliefs
    assert beliefs is not None
    order = np.array([int(name) for name in pile.shreds.ids])
    is_true = order[:, None] + 1 == order
    assert np.nanmedian(beliefs[is_true]) > np.nanmedian(beliefs[~is_true]) + 2


def test_no_pages_teach_nothing() -> None:
    with pytest.raises(InputError, match="at least one intact page"):
        fit_close_look(find_model("towers-isri"), [], piles=1)
