"""The server of the page: what it answers, and to whom."""

from __future__ import annotations

import http.client
import json
import threading
from types import SimpleNamespace

import pytest

from vestige.errors import TraceFormatError
from vestige.page.server import PageServer

HOSTILE = "<script>alert(1)</script>"


def level_of(level, begin, end):
    """Return what was asked for; there is one level."""
    if level:
        raise IndexError("no such level")
    return f"{level} {begin} {end}".encode()


def unreadable(*_):
    """Fail as a trace does that is gone."""
    raise TraceFormatError("the trace is gone", path="x")


DATA = SimpleNamespace(
    meta=lambda: {"title": HOSTILE},
    blocks=level_of,
    window=unreadable,
    tree=lambda *asked: {"rows": asked},
    events=lambda *asked: {"events": asked},
    source=lambda _: None,
)


@pytest.fixture(scope="module")
def server():
    """Run a server."""
    with PageServer(DATA) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, path, method="GET", **headers):
    """Return status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, answer.headers, body


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        ("meta", {"title": HOSTILE}),
        ("tree?begin=1&end=2", {"rows": [1, 2]}),
        ("events?begin=1&end=2&limit=99999999", {"events": [1, 2, 10_000]}),
        ("source?function=3", None),
    ],
)
def test_facts_are_json(server, asked, answer):
    """As the page asks for them."""
    status, headers, body = ask(server, f"/{server.token}/api/{asked}")

    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(body) == answer


def test_blocks_are_bytes(server):
    """They are not to be read as anything else."""
    status, headers, body = ask(
        server, f"/{server.token}/api/blocks?level=0&begin=5&end=7"
    )

    assert (status, body) == (200, b"0 5 7")
    assert headers["Content-Type"] == "application/octet-stream"
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_runs_nothing_but_its_own(server):
    """All that it names is there, and it says where it may load from."""
    status, headers, body = ask(server, f"/{server.token}/")
    page = body.decode()

    assert status == 200
    assert "default-src 'none'" in page
    assert "connect-src 'self'" in page
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    for name in ("main.js", "page.css"):
        assert f"./{name}" in page
        assert ask(server, f"/{server.token}/{name}")[0] == 200


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/", 404),
        ("/wrong/", 404),
        ("/wrong/api/meta", 404),
        ("/{token}", 301),
        ("/{token}x/", 404),
        ("/{token}/api/other", 404),
        ("/{token}/../../etc/passwd", 404),
        ("/{token}/web/main.js", 404),
        ("/{token}/api/blocks", 400),
        ("/{token}/api/blocks?level=0&begin=-1&end=2", 400),
        ("/{token}/api/blocks?level=0&begin=1&begin=1&end=2", 400),
        ("/{token}/api/blocks?level=7&begin=1&end=2", 400),
        ("/{token}/api/blocks?level=0&begin=1&end=" + "9" * 5000, 400),
        ("/{token}/api/window?begin=1&end=2", 500),
    ],
)
def test_what_is_not_there_or_wrong_is_refused(server, path, status):
    """No path leads to a file, and no number is taken for another."""
    assert ask(server, path.format(token=server.token))[0] == status


@pytest.mark.parametrize("method", ["POST", "HEAD", "OPTIONS", "PUT", "DELETE", "X"])
def test_only_get_is_answered(server, method):
    """Nothing can be changed."""
    status, headers, _ = ask(server, f"/{server.token}/", method)

    assert (status, headers["Allow"]) == (405, "GET")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("127.0.0.1", 200),
        ("example.org", 403),
        ("127.0.0.1.example.org", 403),
        ("127.0.0.1:x", 403),
        ("", 403),
    ],
)
def test_names_of_other_machines_lead_nowhere(server, host, status):
    """A name that a stranger controls may lead to this machine."""
    assert ask(server, f"/{server.token}/", Host=host)[0] == status


def test_each_server_has_a_token_of_its_own():
    """And listens on this machine alone."""
    with PageServer(DATA) as one, PageServer(DATA) as other:
        assert one.token != other.token
        assert len(one.token) >= 32
        assert one.server_address[0] == "127.0.0.1"
        assert one.url == f"http://127.0.0.1:{one.port}/{one.token}/"
