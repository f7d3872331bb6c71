"""Where sessions are sent to, as LTTng 2.13 reads and writes it."""

from __future__ import annotations

import pytest

from vestige.live.output_url import (
    OutputUrlError,
    connection_uri,
    parse_output_url,
    read_uri,
)


@pytest.mark.parametrize(
    ("url", "uris"),
    [
        ("net://localhost", ["tcp4://127.0.0.1:5342/", "tcp4://127.0.0.1:5343/"]),
        ("net4://127.0.0.1", ["tcp4://127.0.0.1:5342/", "tcp4://127.0.0.1:5343/"]),
        ("net://127.0.0.1:12:56", ["tcp4://127.0.0.1:12/", "tcp4://127.0.0.1:56/"]),
        ("net://127.0.0.1:7", ["tcp4://127.0.0.1:7/", "tcp4://127.0.0.1:5343/"]),
        (
            "net://127.0.0.1/some/dir/",
            ["tcp4://127.0.0.1:5342/some/dir", "tcp4://127.0.0.1:5343/"],
        ),
        ("net6://[::1]:5:6/x", ["tcp6://[::1]:5/x", "tcp6://[::1]:6/"]),
        ("net6://localhost", ["tcp6://[::1]:5342/", "tcp6://[::1]:5343/"]),
        ("file:///a/b", ["file:///a/b"]),
        ("/a/b", ["file:///a/b"]),
        ("tcp://127.0.0.1:9/d", ["tcp4://127.0.0.1:9/d"]),
        ("tcp6://[::1]:9", ["tcp6://[::1]:9/"]),
    ],
)
def test_urls_are_read(url: str, uris: list[str]):
    """What is written is read again, too."""
    found = parse_output_url(url)
    assert [*map(str, found)] == uris
    assert [read_uri(str(one)) for one in found] == found


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("bad://x", "URI parse unknown protocol bad://x"),
        ("udp://localhost", "URI parse unknown protocol udp://localhost"),
        ("localhost", "URI parse unknown protocol localhost"),
        ("file://relative", "Missing destination full path."),
        ("net://", "No address or hostname detected."),
        ("net://127.0.0.1:99999", "Invalid port number 99999"),
        ("net://127.0.0.1:0:5", "Invalid port number 0"),
        ("net://127.0.0.1:abc", "Invalid port number 0"),
        ("net://127.0.0.1:1:2:3", "Trailing characters not recognized: :3"),
        ("tcp://127.0.0.1:1:2", "Trailing characters not recognized: :2"),
        ("net://[::1]", "URI parse bad hostname ::1 for af 2"),
        ("net://[::1", "Broken IPv6 address ::1"),
        ("net6://127.0.0.1", "URI parse bad hostname 127.0.0.1 for af 10"),
        ("net://h\0", "URI parse bad hostname h\0 for af 2"),
    ],
)
def test_what_is_none_is_refused(url: str, why: str):
    """With LTTng's words."""
    with pytest.raises(OutputUrlError) as caught:
        parse_output_url(url)
    assert str(caught.value) == why


def test_connections_have_ports_of_their_own():
    """Of a URL for both, each takes its part; the control URL has the directory."""
    assert str(connection_uri("tcp://127.0.0.1/d", is_data=False)) == (
        "tcp4://127.0.0.1:5342/d"
    )
    assert str(connection_uri("tcp://127.0.0.1/d", is_data=True)) == (
        "tcp4://127.0.0.1:5343/"
    )
    assert connection_uri("net://127.0.0.1:1:2", is_data=True).port == 2
    with pytest.raises(OutputUrlError):
        connection_uri("file:///a", is_data=True)


@pytest.mark.parametrize("text", ["net://127.0.0.1", "tcp://127.0.0.1", "x"])
def test_only_whole_uris_are_read_again(text: str):
    """A journal or a configuration has nothing else."""
    with pytest.raises(OutputUrlError):
        read_uri(text)
