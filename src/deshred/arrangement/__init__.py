"""The order: scores in, pages of shreds out. No pixels here."""

from deshred.arrangement.ordering import ArrangementOptions, WarmStart, arrange, check_question
from deshred.arrangement.tsplib import AtspInstance, ClosedTour, arrange_atsp, read_atsp

__all__ = [
    "ArrangementOptions",
    "AtspInstance",
    "ClosedTour",
    "WarmStart",
    "arrange",
    "arrange_atsp",
    "check_question",
    "read_atsp",
]
