"""What notebooks show: text in it is text, whatever it holds."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from vestige.notebook import frame_html, rows_html, time_text

HOSTILE = "</td><script>alert('1')</script>&amp;"


class Tags(HTMLParser):
    """Collects the tags with their attributes, and the text."""

    def __init__(self, html):
        super().__init__()
        self.tags, self.text = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Keep a tag."""
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data):
        """Keep text."""
        self.text.append(data)


@pytest.mark.parametrize(
    ("nanoseconds", "text"),
    [
        (None, ""),
        (0, "0 ns"),
        (999, "999 ns"),
        (1_000, "1.000 µs"),
        (18_412.4, "18.41 µs"),
        (612_345_678, "612.3 ms"),
        (5_172_345_678, "5.172 s"),
        (86_400_000_000_000, "86400 s"),
    ],
)
def test_durations_are_as_people_write_them(nanoseconds, text):
    """Four digits, and a unit in which they are at least 1."""
    assert time_text(nanoseconds) == text


def test_rows_are_escaped_and_counted():
    """What is too much is said, not shown."""
    found = Tags(rows_html(HOSTILE, [HOSTILE], [[HOSTILE]] * 5, most=2))

    assert {tag for tag, _ in found.tags} == {"table", "caption", "tr", "th", "td"}
    assert found.text == [HOSTILE] * 4 + ["3 more"]


def test_a_page_is_by_itself_in_a_frame():
    """All of it is the value of one attribute, and it cannot reach the notebook."""
    page = f"<!doctype html><title>\"'&quot;</title><p>{HOSTILE}</p>"

    [(tag, attributes)] = Tags(frame_html(page, HOSTILE)).tags

    assert tag == "iframe"
    assert attributes["srcdoc"] == page
    assert attributes["title"] == HOSTILE
    assert attributes["sandbox"] == "allow-scripts"
