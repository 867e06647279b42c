from __future__ import annotations

from deshred.arrangement.problem.deadlines import NEVER, Deadline


class Watch:
    """A clock that stands still until it is set."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_a_deadline_is_past_when_its_own_clock_says_so() -> None:
    watch = Watch()
    deadline = Deadline.after(5.0, watch)
    assert deadline.left == 5.0
    watch.now = 104.9
    assert not deadline.is_past
    watch.now = 105.1
    assert deadline.is_past


def test_a_share_of_the_time_left_ends_earlier() -> None:
    watch = Watch()
    assert Deadline.after(10.0, watch).share(0.3).at == 103.0
    assert NEVER.share(0.3) is NEVER


def test_never_is_never_past_and_can_still_be_extended() -> None:
    watch = Watch()
    never = Deadline.after(None, watch)
    assert never.is_never
    assert not never.is_past
    assert never.extend(2.0).at == 102.0
