import numpy as np

from deshred.compatibility.classical.characters.alphabet import AlphabetOptions, learn_alphabet


def test_an_alphabet_has_one_letter_of_each_group_and_no_loners() -> None:
    points = np.concatenate([np.repeat([0.0, 100.0, 200.0], 10) + np.tile(np.arange(10), 3) / 10, [1000.0]])
    distances = np.abs(points[:, None] - points).astype(np.float32)
    letters = learn_alphabet(distances, np.random.default_rng(0), AlphabetOptions(letters=4, patience=1.0))
    assert sorted(np.round(points[letters], -2)) == [0, 100, 200]


def test_where_every_letter_stands_alone_all_are_kept() -> None:
    distances = np.abs(np.arange(5)[:, None] - np.arange(5)).astype(np.float32)
    assert len(learn_alphabet(distances, np.random.default_rng(0), AlphabetOptions())) == 5


def test_letters_stand_for_the_others_as_well_as_a_plain_search_finds() -> None:
    """Against the slow, obvious search: price every swap by the sum over the nearest letters."""
    rng = np.random.default_rng(4)
    points = rng.random((40, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2).astype(np.float32)

    def cost(letters: list[int]) -> float:
        return float(distances[letters].min(axis=0).sum())

    best = list(range(5))
    while True:
        swaps = [[*best[:k], new, *best[k + 1 :]] for k in range(5) for new in range(40) if new not in best]
        cheapest = min(swaps, key=cost)
        if cost(cheapest) >= cost(best):
            break
        best = cheapest
    found = learn_alphabet(distances, rng, AlphabetOptions(letters=5, patience=1.0))
    assert cost(found.tolist()) <= 1.05 * cost(best)
