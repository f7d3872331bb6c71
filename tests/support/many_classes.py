"""Writes a program whose provider has very many event classes."""

from __future__ import annotations

from pathlib import Path

HEADER_START = """\
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER crowd

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./crowd_tp.h"

#if !defined(CROWD_TP_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define CROWD_TP_H

#include <stdint.h>
#include <lttng/tracepoint.h>
"""
HEADER_END = """
#endif
#include <lttng/tracepoint-event.h>
"""
PROGRAM_START = """\
/* crowd [ROUNDS]: emits every event class in each round. */
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "crowd_tp.h"

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? atol(argv[1]) : 3;

	for (long i = 0; i < rounds; i++) {
"""
PROGRAM_END = """\
	}
	return 0;
}
"""
FIELDS = (
    "lttng_ust_field_integer(uint{bits}_t, count_{number}, count)",
    "lttng_ust_field_string(text_{number}, text)",
    "lttng_ust_field_integer_hex(long, mask_{number}, count)",
    "lttng_ust_field_float(double, ratio_{number}, count / 8.0)",
    "lttng_ust_field_sequence_text(char, head_{number}, text, uint16_t, 1 + count % 2)",
)


def write_crowd(directory: Path, classes: int = 200) -> Path:
    """Write `crowd.c` and its header into `directory` and return the path of `crowd.c`."""
    directory.mkdir(parents=True, exist_ok=True)
    events = "".join(_event(number) for number in range(classes))
    (directory / "crowd_tp.h").write_text(HEADER_START + events + HEADER_END)
    program = directory / "crowd.c"
    calls = "".join(_call(number) for number in range(classes))
    program.write_text(PROGRAM_START + calls + PROGRAM_END)
    return program


def _event(number: int) -> str:
    bits = (8, 16, 32, 64)[number % 4]
    chosen = FIELDS[number % 3 : number % 3 + 1 + number % len(FIELDS)]
    lines = "\n".join("\t\t" + line.format(bits=bits, number=number) for line in chosen)
    return f"""
LTTNG_UST_TRACEPOINT_EVENT(crowd, member_{number},
	LTTNG_UST_TP_ARGS(long, count, const char *, text),
	LTTNG_UST_TP_FIELDS(
{lines}
	)
)
"""


def _call(number: int) -> str:
    return f'\t\tlttng_ust_tracepoint(crowd, member_{number}, i + {number}, "m{number}");\n'
