"""A browser for the tests of the page."""

from __future__ import annotations

import shutil

import pytest

CHROMIUM = shutil.which("chromium")


@pytest.fixture(scope="module")
def browser():
    """Debian's Chromium, without a window; started once for a file.

    Playwright has an event loop running as long as it is there: tests of other files
    could start none.
    """
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="it drives the browser"
    )
    if CHROMIUM is None:
        pytest.skip("there is no browser")
    with sync_api.sync_playwright() as playwright:
        options = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=options)
        yield browser
        browser.close()
