"""The journal of a daemon."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest

from vestige.daemon.model import Session
from vestige.daemon.peer import Peer
from vestige.daemon.registry import Registry
from vestige.daemon.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """One that has written nothing yet."""
    return Store(str(tmp_path / "kept.json"))


def session(name: str, uid: int = 1000) -> Session:
    """A session of a user."""
    return Session(name=name, uid=uid, gid=1000, output="/o", created=1)


def test_what_was_written_last_is_read(store: Store):
    """Of sessions that were changed, removed, and made anew with the same name."""
    one, other = session("one"), session("other")
    store.write([one, other])
    one.active = True
    store.write([one, other], changed=[one])
    assert store.read().sessions == (one, other)
    store.write([other], changed=[one])
    assert store.read().sessions == (other,)
    again = session("one")
    store.write([other, again], ['{"name": "t"}'], changed=[again])
    assert store.read() == ((other, again), [{"name": "t"}])
    store.write([])
    assert store.read().sessions == ()


def test_sessions_of_two_users_may_have_the_same_name(store: Store):
    """Each is written as it is."""
    kept = [session("s"), session("s", 1001)]
    store.write(kept)
    kept[1].active = True
    store.write(kept, changed=[kept[1]])
    assert store.read().sessions == tuple(kept)


def test_of_many_sessions_the_changed_one_is_described(store: Store):
    """With thousands of them, to describe all takes long."""
    registry = Registry(mock.Mock(), store)
    many = [session(f"s{number}") for number in range(20)]
    with mock.patch.object(
        Session, "to_json", autospec=True, side_effect=Session.to_json
    ) as described:
        for one in many:
            registry.add(one)
        assert described.call_count == 20
        registry.save(many[3])
        registry.remove(many[4])
        assert described.call_count == 21
        registry.save()
        assert described.call_count == 21 + 19
    assert registry.sessions(Peer(1, 1000, 1000)) == many[19:4:-1] + many[3::-1]


def test_one_of_many_is_written_alone(store: Store, tmp_path: Path):
    """Also one that is gone; all are written again only now and then."""
    file = tmp_path / "kept.json"
    many = [session(f"s{number}") for number in range(300)]
    store.write(many)
    whole = file.stat().st_size
    inodes = set()
    while many:
        gone = many.pop(len(many) // 2)
        store.write(many, changed=[gone])
        inodes.add(file.stat().st_ino)
        assert file.stat().st_size < 2 * whole + 4096
        if len(many) % 50 == 0:
            assert store.read().sessions == tuple(many)
    assert len(inodes) == 1
    again = session("s1")
    store.write([again], changed=[again])
    again.active = True
    store.write([again], changed=[again])
    assert store.read().sessions == (again,)


def test_what_is_added_does_not_grow_for_ever(store: Store, tmp_path: Path):
    """However often a session is changed."""
    one = session("one")
    store.write([one])
    for number in range(100):
        one.created = number
        store.write([one], changed=[one])
        assert store.read().sessions == (one,)
    assert (tmp_path / "kept.json").stat().st_size < 10_000


def test_a_line_that_is_not_whole_is_none(store: Store, tmp_path: Path):
    """Who wrote it was killed. What follows, where there was no room, is on its own."""
    file = tmp_path / "kept.json"
    one, other = session("one"), session("other")
    store.write([one, other])
    with file.open("a") as stream:
        stream.write('\n{"gone": [1000, "on')
    assert store.read().sessions == (one, other)
    store.write([one], changed=[other])
    assert store.read().sessions == (one,)


def test_triggers_are_written_with_sessions(store: Store):
    """If they are others by now."""
    one = session("one")
    store.write([one], ['{"name": "t"}'])
    store.write([], ['{"name": "t"}', '{"name": "u"}'], changed=[one])
    assert store.read() == ((), [{"name": "t"}, {"name": "u"}])


def test_a_journal_that_was_removed_is_written_anew(store: Store, tmp_path: Path):
    """With all sessions."""
    one, other = session("one"), session("other")
    store.write([one, other])
    (tmp_path / "kept.json").unlink()
    store.write([one, other], changed=[other])
    assert store.read().sessions == (one, other)


def test_what_could_not_be_added_is_not_forgotten(store: Store):
    """The next change is written with it."""
    one, other = session("one"), session("other")
    store.write([one, other])
    one.active = True
    full = OSError(28, "No space left on device")
    with (
        mock.patch.object(Store, "_append", side_effect=full),
        pytest.raises(OSError, match="No space"),
    ):
        store.write([one, other], changed=[one])
    other.active = True
    store.write([one, other], changed=[other])
    assert store.read().sessions == (one, other)
