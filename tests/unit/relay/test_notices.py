"""What a relay says of its peers."""

from __future__ import annotations

from vestige.relay.notices import MOST_TEXTS, SECONDS, Notices


class Clock:
    """A time that tests set, and what is to be done then."""

    def __init__(self):
        self.now = 100.0
        self.waiting = []

    def __call__(self):
        """The time."""
        return self.now

    def later(self, seconds, work):
        """Do something when that time has passed."""
        self.waiting.append((self.now + seconds, work))

    def go_on(self, seconds):
        """Let time pass."""
        self.now += seconds
        due = [work for when, work in self.waiting if when <= self.now]
        self.waiting = [one for one in self.waiting if one[0] > self.now]
        for work in due:
            work()


def test_what_is_the_same_is_counted():
    """And the count is said, even if nothing comes any more."""
    clock, said = Clock(), []
    notices = Notices(said.append, clock.later, clock)
    for _ in range(1000):
        notices("too many")
    notices("another")
    assert said == ["too many", "another"]
    clock.go_on(SECONDS)
    assert said == ["too many", "another", "too many (999 times more)"]
    notices("too many")
    assert said[3:] == ["too many"]
    assert not clock.waiting


def test_there_are_only_so_many_different_ones():
    """Others are counted."""
    clock, said = Clock(), []
    notices = Notices(said.append, clock.later, clock)
    for number in range(MOST_TEXTS + 70):
        notices(f"problem {number}")
    assert len(said) == MOST_TEXTS
    clock.go_on(SECONDS)
    assert said[MOST_TEXTS:] == ["70 other warnings are left out"]
    notices.flush()
    assert len(said) == MOST_TEXTS + 1
