"""Random shapes, and the slow, obvious distance between two of them."""

import numpy as np
from scipy import ndimage

WINDOW = 120


def unlike(one: np.ndarray, other: np.ndarray) -> float:
    """The slow, obvious modified Hausdorff distance of two pictures in one large window."""
    windows = []
    for ink in (one, other):
        rows, columns = np.nonzero(ink)
        window = np.zeros((WINDOW, WINDOW), bool)
        window[rows - int(rows.mean()) + WINDOW // 2, columns - int(columns.mean()) + WINDOW // 2] = True
        windows.append(window)
    a, b = windows
    far_a, far_b = ndimage.distance_transform_edt(~a), ndimage.distance_transform_edt(~b)
    return max(far_a[b].mean(), far_b[a].mean())


def blobs(rng: np.random.Generator, count: int) -> list[np.ndarray]:
    """Random shapes; every third is nearly the one before."""
    found: list[np.ndarray] = []
    for place in range(count):
        if place % 3 == 2:
            twin = found[-1].copy()
            twin[tuple(rng.integers(0, size) for size in twin.shape)] ^= True
            found.append(twin if twin.any() else found[-1])
            continue
        height, width = rng.integers(8, 30, 2)
        found.append(ndimage.gaussian_filter(rng.random((height, width)), 2) > 0.5)
    return found
