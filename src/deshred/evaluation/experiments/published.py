"""What was published: accuracies in percent, by collection, method and number of documents mixed.

Paixão et al., Pattern Recognition 107 (2020), on the complete collections of 60, 20 and 100 documents;
human in the loop: Paixão et al., Pattern Recognition Letters 164 (2022). Where the authors' stored results
give a value more exactly than the figures, it is taken from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

COLLECTIONS = {"s-marques": "S-Marques", "s-isri-ocr": "S-ISRI-OCR", "s-cdip": "S-CDIP"}
COMPLETE = {"s-marques": 60, "s-isri-ocr": 20, "s-cdip": 100}  # documents of the complete collections

Curve = Mapping[int, float]  # k -> accuracy

ACCURACY: Mapping[str, Mapping[str, Curve]] = {
    "s-marques": {
        "proposed": {1: 96.7, 2: 98.3, 3: 98.0, 5: 97.9, 10: 97.5, 20: 97.6, 60: 97.6},
        "proposed-nn": {1: 94.6, 2: 94.8, 3: 93.6, 5: 92.3, 10: 90.7, 20: 88.6, 60: 86.6},
        "paixao": {1: 71.8, 2: 70.4, 3: 68.7, 4: 67.6, 5: 67.0},
        "liang": {1: 41.6, 2: 32.1, 3: 30.3},
        "marques": {1: 29.2, 2: 26.7, 3: 24.9, 4: 24.3, 5: 24.0, 10: 23.5, 15: 22.9, 20: 22.8, 60: 22.6},
    },
    "s-isri-ocr": {
        "proposed": {1: 95.5, 2: 96.0, 3: 96.1, 5: 96.6, 10: 97.1, 20: 97.0},
        "proposed-nn": {1: 87.4, 2: 86.0, 3: 85.6, 5: 85.6, 10: 83.8, 20: 82.5},
        "paixao": {1: 83.8, 2: 82.7, 3: 81.7, 4: 81.2, 5: 80.6},
        "liang": {1: 2.3, 2: 1.8, 3: 0.8},
        "marques": {1: 8.1, 2: 6.3, 3: 5.9, 4: 5.8, 5: 5.8, 10: 5.0, 15: 4.2, 20: 4.2},
    },
    "s-cdip": {
        "proposed": {1: 91.7, 2: 92.7, 3: 92.4, 5: 92.4, 10: 92.4, 20: 92.2, 100: 91.7},
        "proposed-nn": {1: 82.3, 2: 78.7, 3: 77.5, 5: 76.3, 10: 75.1, 20: 74.1, 100: 72.3},
        "paixao": {1: 48.1, 2: 42.3, 3: 37.9, 5: 34.0},
        "marques": {1: 4.0, 2: 2.5, 3: 1.8, 5: 1.2, 10: 0.9, 20: 0.5, 100: 0.3},
    },
}

KINDS: Mapping[str, float] = {  # S-CDIP, k = 1, Proposed
    "letter": 86.5,
    "email": 87.5,
    "budget": 87.5,
    "resume": 88.5,
    "questionnaire": 93.5,
    "news_article": 93.8,
    "handwritten": 93.8,
    "invoice": 94.0,
    "form": 97.0,
    "memo": 97.2,
}

# seconds at k = 1 .. 5, mean over S-Marques and S-ISRI-OCR; a V100 and 240 threads for Liang
SECONDS: Mapping[str, Curve] = {
    "proposed": {1: 13, 2: 53, 3: 120, 4: 214, 5: 335},
    "paixao": {1: 227, 2: 829, 3: 1919, 4: 3561, 5: 5712},
    "liang": {1: 185, 2: 1306, 3: 2692},
    "marques": {1: 0.3, 2: 1.2, 3: 2.6, 4: 4.9, 5: 7.2},
}

# at k = 5: factor -> collection -> value of the factor -> accuracy
ABLATION: Mapping[str, Mapping[str, Mapping[str, float]]] = {
    "v_shift": {
        "s-marques": {"0": 97.7, "5": 97.9, "10": 98.0, "20": 97.8},
        "s-isri-ocr": {"0": 91.3, "5": 95.7, "10": 96.5, "20": 95.7},
        "s-cdip": {"0": 62.8, "5": 86.1, "10": 92.4, "20": 94.1},
    },
    "sample": {
        "s-marques": {"32x32": 98.0, "32x64": 89.3, "64x32": 97.4, "64x64": 95.7},
        "s-isri-ocr": {"32x32": 96.5, "32x64": 83.2, "64x32": 96.5, "64x64": 96.2},
        "s-cdip": {"32x32": 92.4, "32x64": 81.7, "64x32": 90.2, "64x64": 88.2},
    },
    "rho_black": {
        "s-marques": {"0.1": 97.4, "0.2": 98.0, "0.3": 96.6},
        "s-isri-ocr": {"0.1": 95.7, "0.2": 96.5, "0.3": 97.0},
        "s-cdip": {"0.1": 91.7, "0.2": 92.4, "0.3": 91.9},
    },
}


@dataclass(frozen=True)
class FeedbackStart:
    """Accuracy before and after 10 % of the joins were asked in one round: the best published strategy."""

    before: float
    after: float


FEEDBACK: Mapping[str, FeedbackStart] = {  # metric learning, mean over 5 models
    "s-marques": FeedbackStart(93.5, 94.4),
    "s-isri-ocr": FeedbackStart(96.0, 97.9),
    "s-cdip": FeedbackStart(90.4, 92.4),
}


def published_accuracy(collection: str, method: str | None, k: int, documents: int) -> float | None:
    """The figure of the paper, where it has one; all documents at hand stand for its all."""
    curve = ACCURACY.get(collection, {}).get(method or "", {})
    if k == documents and k > 5:
        return curve.get(COMPLETE[collection])
    return curve.get(k)
