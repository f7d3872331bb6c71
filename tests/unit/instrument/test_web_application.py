"""A web application that is recorded under load."""

from __future__ import annotations

import importlib.util

import pytest

import vestige
from support.python_programs import record_python, run_python
from vestige.analysis import call_tree

REQUESTS = 200

AIOHTTP = f"""\
    import asyncio, hashlib, json
    from aiohttp import ClientSession, web

    def total(items):
        return sum(price(item) for item in items)

    def price(item):
        return item * 3

    async def order(request):
        items = await request.json()
        if not items:
            raise web.HTTPBadRequest(text="nothing ordered")
        return web.json_response({{"total": total(items)}})

    async def load(url, number, answers):
        async with ClientSession() as session:
            for index in range({REQUESTS} // 4):
                body = list(range((number + index) % 5))
                async with session.post(url, json=body) as response:
                    answers.append((number, index, response.status, await response.text()))

    async def main():
        application = web.Application()
        application.router.add_post("/order", order)
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        answers = []
        url = f"http://127.0.0.1:{{port}}/order"
        await asyncio.gather(*(load(url, number, answers) for number in range(4)))
        await runner.cleanup()
        for answer in sorted(answers):
            print(answer)

    asyncio.run(main())
"""

FLASK = f"""\
    import threading, urllib.error, urllib.request
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
    from socketserver import ThreadingMixIn
    from flask import Flask, abort, request

    application = Flask("shop")

    def total(items):
        return sum(price(item) for item in items)

    def price(item):
        return item * 3

    @application.post("/order")
    def order():
        items = request.get_json()
        if not items:
            abort(400, "nothing ordered")
        return {{"total": total(items)}}

    class Server(ThreadingMixIn, WSGIServer):
        daemon_threads = False
        request_queue_size = 64

    class Quiet(WSGIRequestHandler):
        def log_message(self, *words): pass

    server = make_server("127.0.0.1", 0, application, Server, Quiet)
    threading.Thread(target=server.serve_forever).start()
    answers = []

    def load(number):
        for index in range({REQUESTS} // 4):
            body = str(list(range((number + index) % 5))).encode()
            sent = urllib.request.Request(
                f"http://127.0.0.1:{{server.server_port}}/order", body,
                {{"Content-Type": "application/json"}},
            )
            try:
                with urllib.request.urlopen(sent) as response:
                    answers.append((number, index, response.status, response.read()))
            except urllib.error.HTTPError as error:
                answers.append((number, index, error.code, error.read()))

    threads = [threading.Thread(target=load, args=(number,)) for number in range(4)]
    for one in threads: one.start()
    for one in threads: one.join()
    server.shutdown()
    server.server_close()
    for answer in sorted(answers):
        print(answer)
"""

PRICES = sum(
    (number + index) % 5 for number in range(4) for index in range(REQUESTS // 4)
)
ORDERS = sum(
    bool((number + index) % 5) for number in range(4) for index in range(REQUESTS // 4)
)


@pytest.mark.parametrize(
    ("package", "code", "line"), [("aiohttp", AIOHTTP, 10), ("flask", FLASK, 14)]
)
def test_responses_are_unchanged_and_calls_complete(tmp_path, package, code, line):
    """Each request is in the call tree, at its source line."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"not installed: {package}")
    alone = run_python(tmp_path, code)
    recorded = record_python(tmp_path, code, "--python-functions", "-q")

    assert alone.stdout.count("\n") == REQUESTS
    assert (recorded.stdout, recorded.stderr) == (alone.stdout, alone.stderr)

    tree = call_tree(vestige.open(tmp_path / "trace"))
    rows = {
        row.function.name: row
        for row in tree.functions()
        if row.function.place.file == "program.py"
    }
    assert rows["price"].calls == PRICES
    assert rows["total"].calls == ORDERS
    assert rows["order"].function.place.line == line
    # A coroutine is entered again when it goes on after waiting for the body.
    assert rows["order"].calls >= REQUESTS
    assert not tree.losses
