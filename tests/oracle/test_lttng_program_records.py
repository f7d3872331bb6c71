"""What programs that were compiled with LTTng-UST's headers record, and what they leave out."""

from __future__ import annotations

import subprocess

import pytest

from support.instrumented import Sources, payloads
from support.lttng import missing_requirement
from support.recorded import record_command

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
