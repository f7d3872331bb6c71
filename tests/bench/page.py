"""How long the page takes: to be written, to be shown, and to be drawn while zooming.

    python -m bench.page [--trace TRACE] [--rounds N]

The page is opened in Debian's Chromium, without a graphics processor; it needs playwright.
Drawings are timed by the page itself, around what it does for a frame. While zooming, the
wheel turns in and out at several places.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from .viewers import VESTIGE, Cell, record, run

STEPS = 30
"""Turns of the wheel at each place, in and then out."""
PLACES = (0.1, 0.35, 0.6, 0.85)
"""Where the pointer is, as parts of the picture."""


class Figures(NamedTuple):
    """What the page took, milliseconds."""

    ready: float
    """From the begin of the navigation until it is drawn."""
    first: float
    """The first drawing."""
    median: float
    """Half of the drawings while zooming are quicker."""
    p95: float
    """95 of 100 are quicker."""
    drawings: int
    """How many there were."""


def measure(page: Path) -> Figures:
    """Open a page, and zoom in it.

    Args:
        page: The file.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not of the others

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        tab = browser.new_page(viewport={"width": 1400, "height": 900})
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-complete]", timeout=60_000)
        ready = float(tab.get_attribute("body", "data-ready") or "nan")
        first = tab.evaluate("vestige.timeline.times[0]")
        times = zoomed(tab)
        browser.close()
    quantiles = statistics.quantiles(times, n=20)
    return Figures(ready, first, statistics.median(times), quantiles[18], len(times))


def zoomed(tab: Any) -> list[float]:
    """Zoom in and out; return how long each drawing took, milliseconds.

    Args:
        tab: The page.
    """
    box = tab.locator("#picture").bounding_box()
    tab.evaluate("vestige.timeline.times.length = 0")
    for place in PLACES:
        tab.mouse.move(box["x"] + place * box["width"], box["y"] + 120)
        for turn in (-240, 240):
            for _ in range(STEPS):
                tab.mouse.wheel(0, turn)
                tab.evaluate("() => new Promise(requestAnimationFrame)")
    return [float(one) for one in tab.evaluate("vestige.timeline.times")]


def main() -> None:
    """Measure, and print lines of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, help="a trace (default: a new recording)")
    parser.add_argument("--rounds", type=int, default=40_000)
    options = parser.parse_args()
    if shutil.which("chromium") is None:
        print("no Chromium: the page is not measured")
        return
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        trace = options.trace or record(directory, options.rounds)[0]
        page = directory / "page.html"
        cell = Cell()
        run([*VESTIGE, "report", "--to", "html", "-o", page, trace], cell)
        figures = measure(page)
        size = page.stat().st_size / 1e6
    print(f"written: {cell.seconds:.2f} s CPU, {cell.peak_mib:.0f} MiB; {size:.2f} MB")
    print(f"ready {figures.ready:.0f} ms after it was opened")
    print(
        f"draw(): first {figures.first:.1f} ms; while zooming median "
        f"{figures.median:.1f} ms, p95 {figures.p95:.1f} ms of {figures.drawings}"
    )


if __name__ == "__main__":
    main()
