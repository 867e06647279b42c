"""The order: scores in, pages of shreds out. No pixels here."""

from deshred.arrangement.chains import ChainOptions, arrange_over_chains
from deshred.arrangement.ordering import ArrangementOptions, WarmStart, arrange, check_question
from deshred.arrangement.problem.fixings import Atom, check_constraints, split
from deshred.arrangement.problem.pages import page_price, paper_width
from deshred.arrangement.tsplib import AtspInstance, ClosedTour, arrange_atsp, read_atsp

__all__ = [
    "ArrangementOptions",
    "Atom",
    "AtspInstance",
    "ChainOptions",
    "ClosedTour",
    "WarmStart",
    "arrange",
    "arrange_atsp",
    "arrange_over_chains",
    "check_constraints",
    "check_question",
    "page_price",
    "paper_width",
    "read_atsp",
    "split",
]
