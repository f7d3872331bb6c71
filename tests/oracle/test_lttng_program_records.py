"""What programs that were compiled with LTTng-UST's headers record, and what they leave out."""

from __future__ import annotations

import subprocess

import pytest

import vestige
from support.instrumented import Sources, payloads
from support.lttng import Channel, Program, missing_requirement
from support.recorded import record_command, run_recorded

pytestmark = [
    pytest.mark.oracle,
    pytest.mark.skipif(missing_requirement() is not None, reason="needs LTTng"),
]

OWN_POINTS = """
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_PROBE_DYNAMIC_LINKAGE
"""
MESSAGES = """
#include <lttng/tracef.h>
#include <lttng/tracelog.h>
#include <stdio.h>

static int formatted;

int main(void)
{
	lttng_ust_tracef("%d", ++formatted);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "%d", ++formatted);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG, "%d", ++formatted);
	printf("%d\\n", formatted);
	return 0;
}
"""
PROVIDER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER long
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./long-tp.h"
#if !defined(LONG_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LONG_TP_H
#include <stdint.h>
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(long, lists, LTTNG_UST_TP_ARGS(const char *, text, size_t, count),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_sequence_nowrite(uint16_t, hidden, text, uint8_t, count / 2)
		lttng_ust_field_sequence(uint8_t, bytes, text, uint8_t, count)
		lttng_ust_field_sequence_text(char, text, text, uint8_t, count)
		lttng_ust_field_string(string, text)
		lttng_ust_field_sequence(uint16_t, halves, text, uint8_t, count / 2)
		lttng_ust_field_sequence(uint8_t, all, text, uint16_t, count)
		lttng_ust_field_integer(size_t, count, count)))
#endif
#include <lttng/tracepoint-event.h>
"""
LISTS = """
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "long-tp.h"
#include <string.h>

int main(void)
{
	static char text[1000];

	memset(text, 'x', sizeof(text) - 1);
	lttng_ust_tracepoint(long, lists, text, 4);
	lttng_ust_tracepoint(long, lists, text, 300);
	lttng_ust_tracepoint(long, lists, text, 512);
	lttng_ust_tracepoint(long, lists, text, 255);
	return 0;
}
"""


@pytest.mark.parametrize(
    ("flags", "start"),
    [((), ""), (("-no-pie", "-fno-pie"), ""), ((), OWN_POINTS)],
    ids=["the library's points", "copies of them", "points of the program"],
)
@pytest.mark.parametrize(
    ("options", "formatted"),
    [
        ([], 3),
        (["-e", "lttng_ust_tracef:*"], 1),
        (["-e", "*:*", "--loglevel=INFO"], 1),
        (["-e", "lttng_ust_tracelog:*", "--filter", "line > 1000"], 2),
        (["-e", "no:*"], 0),
        (["-e", "*:*INFO", "--keep-lttng"], 1),
    ],
)
def test_a_message_that_no_rule_takes_is_not_made(
    tmp_path, flags, start, options, formatted
):
    """Nor are its arguments evaluated: the program looks at the point alone."""
    build = Sources(tmp_path, ("gcc", "-O1", "-w"), has_lttng=True)
    build.write("said.c", f"{start}{MESSAGES}")
    program = build.build("said", "said.c", flags=flags)
    command = record_command(tmp_path / "trace", [program], "-q", *options)
    done = subprocess.run(command, capture_output=True, text=True, check=True)

    assert done.stdout == f"{formatted}\n"
    # What a filter looks at has to be there.
    taken = 0 if "--filter" in options else formatted
    assert len(payloads(tmp_path / "trace")) == taken


@pytest.mark.parametrize("options", [[], ["--keep-lttng"]])
def test_sequences_are_no_longer_than_their_lengths_tell(tmp_path, lttng, options):
    """LTTng writes all elements, so that nobody can read what comes behind."""
    build = Sources(tmp_path, ("gcc", "-O1", "-w"), has_lttng=True)
    build.write("long-tp.h", PROVIDER)
    build.write("lists.c", LISTS)
    program = build.build("lists", "lists.c")
    channel = Channel(events=["long:*"])
    lttng.record(tmp_path / "theirs", [Program([program])], [channel])
    with pytest.warns(vestige.TraceDamageWarning, match="past the end of its packet"):
        read = [
            dict(event.payload)
            for event in vestige.open(tmp_path / "theirs").events("long:*")
        ]
    done = run_recorded(tmp_path / "ours", [program], *options)
    ours = [fields for name, fields in payloads(tmp_path / "ours")]

    assert read[0] == ours[0]
    assert ours[1:] == [fields(300), fields(512), fields(255)]
    assert done.stderr.count("cut: long:lists (LTTng-UST): a sequence has more") == 1


def fields(count):
    """Return the fields of an event with so many elements in each of its lists."""
    x = ord("x")
    told, half = count % 256, count // 2 % 256
    return {
        "_bytes_length": told,
        "bytes": [x] * told,
        "_text_length": told,
        "text": "x" * told,
        "string": "x" * 999,
        "_halves_length": half,
        "halves": [x << 8 | x] * half,
        "_all_length": count,
        "all": [x] * count,
        "count": count,
    }
