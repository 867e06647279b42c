"""A towers model and intact pages in, its close look at joins out; needs torch.

Pages are cut into rectangular crops, mixed and scored: where tears show, no close look is taken. The network
learns which of the best joins of an edge is true, or that none is: of every pile some shreds are taken away,
others at each step.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from deshred.compatibility.fusion import FusionScorer
from deshred.compatibility.scoring import score
from deshred.compatibility.towers.closelook import (
    CHANNELS,
    FACTS,
    HIDDEN,
    MEAN,
    REACH,
    STRIDES,
    VOICE,
    WIDTH,
    CloseLook,
    gather_facts,
    list_best,
    soften,
)
from deshred.elements import Shred
from deshred.errors import InputError
from deshred.executors import Progress, SerialExecutor
from deshred.imaging.binarization import BlankOptions
from deshred.imaging.preparation import prepare
from deshred.simulation.intact import IntactPage
from deshred.simulation.shredding import Damage, ShreddingOptions, shred_page

_PAGES_PER_PILE = 12
_STEPS_PER_PILE = 75
_EDGES = 20  # of either side of a pile that a step looks at
_MISSING = (0.0, 0.1, 0.3, 0.5)  # shares of the shreds of a pile that are taken away for a step
_RATE, _DECAY = 3e-3, 1e-2
_WORST = 12.0  # nats; a ruined join must not count for more
_CROPS = Damage(ragged=0.0, fray=0.0, drift=0.0)
_AT_ONCE = 1000  # joins


@dataclass(frozen=True, eq=False)
class KnownLooks:
    """What a close look has to go by in one simulated pile, and the truth."""

    seen: Tensor  # (m, rows, channels)
    facts: Tensor  # (m, FACTS)
    scores: Tensor  # (m,)
    edges: tuple[Tensor, Tensor]  # (m,) each: the right-hand and the left-hand edge of every join
    is_true: Tensor  # (m,)
    page_ends: tuple[Tensor, Tensor]  # (n,) each: what right-hand and left-hand edges score there

    def __len__(self) -> int:
        return len(self.page_ends[0])


def fit_close_look(
    model: Path,
    pages: Sequence[IntactPage],
    *,
    piles: int,
    seed: int = 0,
    progress: Progress | None = None,
) -> CloseLook:
    """Simulate piles of the pages, and fit the close look of a model on them."""
    if not pages:
        raise InputError("a close look is learned from at least one intact page.")
    known = list(simulate_looks(FusionScorer(model), pages, piles=piles, seed=seed, progress=progress))
    return teach(known, steps=_STEPS_PER_PILE * piles, seed=seed, progress=progress)


def simulate_looks(
    scorer: FusionScorer,
    pages: Sequence[IntactPage],
    *,
    piles: int,
    seed: int,
    progress: Progress | None = None,
) -> Iterator[KnownLooks]:
    """What there is to see in simulated piles; in every other one all shreds lie level."""
    rng = np.random.default_rng(seed)
    for number in range(piles):
        chosen = rng.choice(len(pages), min(_PAGES_PER_PILE, len(pages)), replace=False)
        shreds, follows = _mix([pages[page] for page in chosen], rng, is_level=number % 2 == 1)
        yield look_at_pile(scorer, shreds, follows)
        if progress is not None:
            progress("simulating", number + 1, piles)


def _mix(
    pages: Sequence[IntactPage], rng: np.random.Generator, *, is_level: bool
) -> tuple[list[Shred], dict[str, str]]:
    """Shreds in random order, and which stands right of which."""
    shreds: list[Shred] = []
    follows: dict[str, str] = {}
    for number, page in enumerate(pages):
        options = ShreddingOptions(shreds=int(rng.integers(20, 31)), damage=_CROPS)
        if is_level:
            options = replace(options, shift=0, tilt_degrees=0.0)
        image = np.repeat(255 * (1 - page.ink[:, :, None]), 3, axis=2)
        for place, simulated in enumerate(shred_page(image, rng, options=options)):
            shred = simulated.to_shred(f"{number}-{place:02d}")
            shreds.append(replace(shred, mask=np.ones_like(shred.mask)))
            follows[f"{number}-{place - 1:02d}"] = shred.id
    return [shreds[i] for i in rng.permutation(len(shreds))], follows


def look_at_pile(scorer: FusionScorer, shreds: Sequence[Shred], follows: dict[str, str]) -> KnownLooks:
    """What there is to see of the best joins of a pile, and of the true ones where those are among them."""
    pile = prepare(shreds, edges=scorer.edge_options, blank=BlankOptions(rule="paper"))
    compatibility = score(pile, scorer)
    margins = compatibility.margins
    assert margins is not None
    rights = scorer.describe_rights([pair.right for pair in pile.edges], SerialExecutor())
    lefts = scorer.describe_lefts([pair.left for pair in pile.edges], SerialExecutor())
    sides = scorer.towers.show_sides(rights.features, lefts.features)
    looked = list_best(
        compatibility, np.array([pair.left.top for pair in pile.edges], np.int32), sides.row_step
    )
    seen, facts = [], []
    for first in range(0, len(looked), _AT_ONCE):
        some = looked[first : first + _AT_ONCE]
        rows = sides.see(some)
        facts.append(gather_facts(rows, some, margins))
        seen.append(soften(rows).astype(np.float16))
    ids = pile.shreds.ids
    is_true = [follows.get(ids[i]) == ids[j] for i, j in looked.pairs.tolist()]
    own, other = looked.pairs.T.astype(np.int64)
    return KnownLooks(
        torch.from_numpy(np.concatenate(seen)),
        torch.from_numpy(np.concatenate(facts)),
        torch.from_numpy(looked.scores),
        (torch.from_numpy(own), torch.from_numpy(other)),
        torch.tensor(is_true),
        (torch.from_numpy(margins.ends.copy()), torch.from_numpy(margins.starts.copy())),
    )


class CloseLookNetwork(nn.Module):
    """The network of `CloseLook`, to be trained: it begins as the scores are."""

    def __init__(self) -> None:
        super().__init__()
        size = 2 * REACH + 1
        self.first = nn.Conv1d(CHANNELS, WIDTH, size, stride=STRIDES[0], padding=REACH)
        self.second = nn.Conv1d(WIDTH, WIDTH, size, stride=STRIDES[1], padding=REACH)
        self.third = nn.Conv1d(WIDTH, WIDTH, size, stride=STRIDES[2], padding=REACH)
        self.hidden = nn.Linear(2 * WIDTH + FACTS, HIDDEN)
        self.last = nn.Linear(HIDDEN, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)
        self.score = nn.Parameter(torch.tensor(0.5))
        self.nobody = nn.Parameter(torch.tensor(0.0))

    def forward(self, seen: Tensor, facts: Tensor, scores: Tensor) -> Tensor:  # (m,)
        rows = F.relu(self.first(seen.float().transpose(1, 2)))
        rows = F.relu(self.second(rows))
        rows = rows + F.relu(self.third(rows))
        told = torch.cat([rows.mean(2) * MEAN, rows.amax(2), facts], dim=1)
        said: Tensor = self.last(F.relu(self.hidden(told)))[:, 0]
        return self.score * scores + VOICE * said

    def to_look(self) -> CloseLook:
        """As it is used."""
        return CloseLook({name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()})


def teach(
    known: Sequence[KnownLooks], *, steps: int, seed: int, progress: Progress | None = None
) -> CloseLook:
    """Fit the network on what was seen of simulated piles."""
    torch.manual_seed(seed)
    rng = np.random.default_rng([seed, 1])
    network = CloseLookNetwork()
    optimizer = torch.optim.AdamW(network.parameters(), lr=_RATE, weight_decay=_DECAY)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, _RATE, total_steps=steps)
    for step in range(steps):
        pile = known[int(rng.integers(len(known)))]
        loss = measure_loss(network, pile, _draw_edges(len(pile), rng))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(network.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if progress is not None and (step + 1) % _STEPS_PER_PILE == 0:
            progress("looking closely", step + 1, steps)
    return network.to_look()


@dataclass(frozen=True, eq=False)
class ChosenEdges:
    """The shreds of a pile that are there, and the edges that are asked for their neighbor."""

    is_there: NDArray[np.bool_]  # (n,)
    asked: tuple[NDArray[np.bool_], NDArray[np.bool_]]  # (n,) each: right-hand and left-hand edges


def _draw_edges(count: int, rng: np.random.Generator) -> ChosenEdges:
    is_there = rng.random(count) >= rng.choice(_MISSING)
    asked = np.zeros((2, count), np.bool_)
    for side in asked:
        side[rng.choice(count, min(_EDGES, count), replace=False)] = True
    asked &= is_there
    return ChosenEdges(is_there, (asked[0], asked[1]))


def measure_loss(network: CloseLookNetwork, pile: KnownLooks, chosen: ChosenEdges) -> Tensor:
    """How surprising the true neighbors of some edges are, or that they have none."""
    is_there = torch.from_numpy(chosen.is_there)
    asked = [torch.from_numpy(side) for side in chosen.asked]
    own, other = pile.edges
    used = (is_there[own] & is_there[other] & (asked[0][own] | asked[1][other])).nonzero()[:, 0]
    worth = network(pile.seen[used], pile.facts[used], pile.scores[used])
    total, count = torch.zeros(()), 0
    for edges, page_ends, wanted in zip(pile.edges, pile.page_ends, asked, strict=True):
        of_side = wanted[edges[used]]
        edge, value, is_true = edges[used][of_side], worth[of_side], pile.is_true[used][of_side]
        nobody = network.score * page_ends + network.nobody
        everything = torch.logaddexp(_add_logs(value, edge, len(pile)), nobody)
        found = torch.zeros(len(pile), dtype=torch.bool)
        found[edge[is_true]] = True
        total = total + (everything[edge[is_true]] - value[is_true]).clamp(max=_WORST).sum()
        total = total + (everything - nobody)[wanted & ~found].sum()
        count += int(wanted.sum())
    return total / max(count, 1)


def _add_logs(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """The log of the sum of exponentials of each group; very little where it is empty."""
    top = torch.full((count,), -1e9).scatter_reduce(0, groups, values, "amax", include_self=True).detach()
    sums = torch.zeros(count).scatter_add(0, groups, torch.exp(values - top[groups]))
    return torch.log(sums + 1e-30) + top
