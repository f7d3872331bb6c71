"""Served pages in a real browser."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["opened", "until"]

SECONDS = 60


@contextmanager
def opened(browser: Browser, url: str, *, is_dark: bool = False) -> Iterator[Page]:
    """Open a page; nothing may be wrong with it, and it asks nobody else.

    Args:
        browser: The browser.
        url: Where the page is served.
        is_dark: Whether the person prefers light letters on dark ground.
    """
    context = browser.new_context(
        viewport={"width": 1300, "height": 900},
        color_scheme="dark" if is_dark else "light",
    )
    page = context.new_page()
    told: list[str] = []
    asked: list[str] = []
    page.on("console", lambda one: told.append(one.text))
    page.on("pageerror", lambda one: told.append(str(one)))
    page.on("request", lambda one: asked.append(one.url))
    page.goto(url)
    page.wait_for_selector("body[data-complete]")
    yield page
    context.close()
    assert told == []
    assert [one for one in asked if not one.startswith((url, "data:"))] == []


def until(page: Page, condition: str, seconds: float = SECONDS) -> None:
    """Wait for a condition; the page lets nobody else's code run in it, to wait there.

    Args:
        page: The page.
        condition: An expression of JavaScript.
        seconds: How long to wait at most.
    """
    end = time.monotonic() + seconds
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)
