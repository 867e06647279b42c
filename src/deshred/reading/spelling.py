"""How many letters two texts differ by."""

from __future__ import annotations


def edit_distance(one: str, other: str) -> int:
    """The fewest letters to insert, drop or change to make one text the other.

    Bit-parallel after Myers (1999): a column of the table is two integers, so pages take milliseconds.
    """
    if not one:
        return len(other)
    places: dict[str, int] = {}
    for at, letter in enumerate(one):
        places[letter] = places.get(letter, 0) | 1 << at
    everything = (1 << len(one)) - 1
    last = 1 << (len(one) - 1)
    up, down, distance = everything, 0, len(one)  # where the column grows and falls from row to row
    for letter in other:
        equal = places.get(letter, 0)
        diagonal = equal | down
        across = (((equal & up) + up) ^ up) | equal
        grows = down | (~(across | up) & everything)
        falls = up & across
        distance += bool(grows & last) - bool(falls & last)
        grows, falls = (grows << 1) | 1, falls << 1
        up = (falls | ~(diagonal | grows)) & everything
        down = grows & diagonal & everything
    return distance
