"""What the other side of a live session sends, whatever it is."""

from __future__ import annotations

import random

import pytest

from support.relay import Served, relay
from vestige.errors import TraceFormatError
from vestige.live import Index, IndexStatus, LiveUrl, RemoteSession, Viewer
from vestige.live.messages import INDEX_BYTES, SESSION_BYTES


def test_an_index_of_random_bytes_is_read_or_refused():
    """Nothing else is raised; sizes have a limit."""
    chance = random.Random(18)  # noqa: S311 - repeatable
    read = 0
    for _ in range(2_000):
        data = bytearray(chance.randbytes(INDEX_BYTES))
        data[-8:-4] = chance.choice([bytes(4), b"\0\0\0\1", b"\0\0\0\5", data[-8:-4]])
        data[8:12] = chance.choice([bytes(4), data[8:12]])
        try:
            index = Index.parse(bytes(data))
        except TraceFormatError:
            continue
        read += 1
        assert index.size <= 1 << 28
        assert index.status is not IndexStatus.OK or index.size >= 0
    assert 100 < read < 2_000


def test_names_end_at_a_null_character():
    """And need not be UTF-8."""
    session = RemoteSession.parse(bytes(20) + b"m\xff\0x".ljust(64, b"y") + bytes(255))
    assert len(bytes(20) + bytes(64 + 255)) == SESSION_BYTES
    assert (session.hostname, session.name) == ("m\ufffd", "")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("net://h/host/m/s", ("h", 5344, "m", "s")),
        ("net4://h:1/host/m/s/", ("h", 1, "m", "s")),
        ("net6://[::1]:70/host/m/s", ("::1", 70, "m", "s")),
        ("net://h:9", ("h", 9, None, None)),
        ("net://h:99999", None),
        ("net://h:0", None),
        ("http://h/host/m/s", None),
        ("net://h/host/m", None),
        ("net:///host/m/s", None),
    ],
)
def test_urls(text, facts):
    """Those of Babeltrace 2."""
    url = LiveUrl.parse(text)
    found = None if url is None else (url.host, url.port, url.target, url.session)
    assert found == facts


@pytest.mark.parametrize(
    ("instead", "message"),
    [
        (b"", "has closed the connection"),
        (b"\xff" * 4, "4294967295 sessions"),
        (b"\0\0\0\1" + b"x" * 9, "has closed the connection"),
    ],
)
def test_a_list_that_is_none_is_refused(instead, message):
    """With one line that names the relay daemon."""
    with relay([Served()], [], answer=lambda c: instead if c == 2 else None) as other:
        viewer = Viewer(LiveUrl.parse(other.url))
        with pytest.raises(TraceFormatError, match=message) as refused:
            [*viewer.sessions()]
        assert str(refused.value).startswith(f"{viewer.url.text}: ")
        viewer.close()


def test_another_version_is_refused():
    """Such as an HTTP server, too."""
    with (
        relay(
            [Served()], [], answer=lambda _: b"HTTP/1.1 400 Bad Request\r\n"
        ) as other,
        pytest.raises(TraceFormatError, match="version"),
    ):
        Viewer(LiveUrl.parse(other.url))


def test_nobody_listens():
    """The error names the URL."""
    with relay([Served()], []) as other:
        url = LiveUrl.parse(other.url)
    with pytest.raises(TraceFormatError, match=rf"{other.port}.*cannot connect"):
        Viewer(url)
