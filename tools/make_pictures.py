"""Makes the pictures of docs/guide/looking.md from a real run of the service of the demo.

    python tools/make_pictures.py [--keep-text]

Run it on a machine that has little else to do, with gcc, Chromium and playwright: ``apt-get
install chromium``, ``pip install playwright``. It types in the commands of the page, in a
directory of its own, and puts what they print in the place of what the page shows: the
lines that are there, with new numbers. Of the page for browsers it makes pictures:

    docs/guide/looking/time.png    all of the recording, with the flame graph
    docs/guide/looking/slow.png    the slow request, with what it is
    docs/guide/looking/lock.png    the longest wait for a mutex, with who had it
    docs/guide/looking/leak.png    what the report of memory prints
    docs/guide/looking/error.png   what the threads did when the error was written
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
import tempfile
from html import escape
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "tests"))

from support.document_session import CUT, Block, Session, blocks, normal  # noqa: E402

GUIDE = REPOSITORY / "docs" / "guide" / "looking.md"
PICTURES = GUIDE.with_suffix("")
WIDTH, HEIGHT = 1100, 620
LARGEST = 150_000
"""Bytes of a picture."""
PLACE = "/tmp"  # noqa: S108 - in texts only
"""Where a reader would have made the directory."""
SLOW = "handle"
"""The function of which one call is slow."""
LONGEST = """name => {
    const { data, view } = window.vestige;
    const id = data.functions.findIndex(known => known.name === name);
    const [row, start, length] = data.meta.durations[id].longest[0];
    view.chooseFunction(id);
    view.bring(start, length);
}"""
"""Shows the longest call of a function."""
WAIT = """() => {
    const { data, timeline, view } = window.vestige;
    const waits = data.meta.waits.rows;
    const [row, begin, length] = waits.reduce((most, one) => (one[2] > most[2] ? one : most));
    view.bring(begin, length);
    timeline.box.scrollTop = timeline.layout.topOf(row, 0) - 160;
    timeline.draw();
    const { x, y } = timeline.canvas.getBoundingClientRect();
    const top = timeline.layout.topOf(row, 0) - timeline.box.scrollTop;
    return [x + timeline.xOf(begin + length / 3), y + top + 34];
}"""
"""Shows the longest wait for a mutex; where it is on the screen."""
ERROR = "refuse"
"""The function that writes the error."""
LEAKS = "vestige report --memory"
"""The command whose output is shown as a picture."""
TERMINAL = """<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; padding: 14px 18px; background: #12181f; color: #dfe6ec; }}
pre {{ margin: 0; font: 14px/1.45 "DejaVu Sans Mono", monospace; }}
b {{ color: #6fb2ff; }}
</style><pre><b>$</b> {command}
{text}</pre>"""
"""A page that looks like a terminal."""
MOST_LINES = 16
"""Lines of a terminal."""


def main() -> None:
    """Make text and pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--keep-text", action="store_true", help="make pictures of the page only"
    )
    options = parser.parse_args()
    directory = Path(tempfile.mkdtemp(prefix="v", dir="/tmp"))
    try:
        session = Session(directory)
        text = played(session)
        if not options.keep_text:
            GUIDE.write_text(text, encoding="utf-8")
        PICTURES.mkdir(exist_ok=True)
        printed = session.run(LEAKS).splitlines()[:MOST_LINES]
        lines = [line.replace(str(session.directory), PLACE) for line in printed]
        photograph(directory / "looking" / "service.html", lines)
    finally:
        shutil.rmtree(directory)


def played(session: Session) -> str:
    """Run the commands of the guide; return it with what they print now.

    Args:
        session: Where they run.
    """
    text = GUIDE.read_text(encoding="utf-8")
    for block in blocks(GUIDE):
        if block.language == "sh":
            session.run(block.text)
        elif block.language == "console":
            text = text.replace(block.text, renewed(block, session))
    return text


def renewed(block: Block, session: Session) -> str:
    """Return a block with what its commands print now.

    Args:
        block: A block with commands and what they print.
        session: Where they run.
    """
    parts = []
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, _, shown = part.partition("\n")
        printed = session.run(command).splitlines()
        printed = [line.replace(str(session.directory), PLACE) for line in printed]
        parts.append("\n".join([f"$ {command}", *same_lines(shown, printed)]))
    return "\n".join(parts) + "\n"


def same_lines(shown: str, printed: list[str]) -> list[str]:
    """Return the lines that are shown as they are printed now.

    Args:
        shown: The lines, some of them cut.
        printed: All lines that are printed.

    Raises:
        ValueError: Some are not printed any more.
    """
    found: list[str] = []
    rest = printed
    for part in re.split(rf"^{re.escape(CUT)}$", shown, flags=re.MULTILINE):
        lines = part.strip("\n").splitlines()
        wanted = [normal(line) for line in lines]
        places = range(len(rest) - len(lines) + 1)
        same = (at for at in places if are(rest[at : at + len(lines)], wanted))
        at = next(same, None)
        if at is None:
            raise ValueError(f"not printed: {part}")
        found += [*rest[at : at + len(lines)], CUT]
        rest = rest[at + len(lines) :]
    found.pop()
    return found


def are(lines: list[str], wanted: list[str]) -> bool:
    """Tell whether lines are what is wanted, but for their numbers.

    Args:
        lines: The lines.
        wanted: What they are to be, as :func:`normal` has it.
    """
    return [normal(line) for line in lines] == wanted


def photograph(page: Path, leaks: list[str]) -> None:
    """Make pictures of the page.

    Args:
        page: The file.
        leaks: What a terminal shows, of which there is a picture, too.
    """
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - not of the tests

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-dev-shm-usage"],
        )
        context = browser.new_context(
            viewport={"width": WIDTH, "height": HEIGHT},
            color_scheme="light",
            offline=True,
        )
        tab = context.new_page()
        tab.goto(page.as_uri())
        tab.wait_for_selector("body[data-ready]")
        save(tab, "time.png")
        tab.evaluate(LONGEST, SLOW)
        tab.click("#tab-details")
        save(tab, "slow.png")
        tab.click("#tab-flame")
        tab.mouse.move(*tab.evaluate(WAIT))
        save(tab, "lock.png")
        tab.mouse.move(0, 0)
        tab.evaluate(LONGEST, ERROR)
        for _ in range(4):
            tab.keyboard.press("s")
        tab.click("#tab-events")
        save(tab, "error.png")
        terminal = TERMINAL.format(command=LEAKS, text=escape("\n".join(leaks)))
        tab.set_content(terminal)
        save(tab, "leak.png", tab.locator("pre"))
        browser.close()


def save(tab: Any, name: str, part: Any = None) -> None:
    """Make a picture when the page has drawn what was asked for.

    Args:
        tab: The page.
        name: Name of the picture.
        part: What of it is shown; all by default.

    Raises:
        ValueError: It is too large for the documents.
    """
    tab.wait_for_timeout(500)  # the page sums when nothing has moved for a moment
    (part or tab).screenshot(path=PICTURES / name)
    size = (PICTURES / name).stat().st_size
    print(f"{name}: {size:,} bytes")
    if size > LARGEST:
        raise ValueError(f"{name}: {size:,} bytes are more than {LARGEST:,}")


if __name__ == "__main__":
    main()
