/*
 * gated: emits gated:step for each line of its standard input, and answers with a line.
 *
 * A line is the number of the event, and how often its text is looked at until it waits: it answers
 * "held" then, and goes on when there is another line. Filters look once, if there are any, and what
 * finds out the size of the record does before the record begins.
 */
#include <stdio.h>
#include <stdlib.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "gated_tp.h"

static int looks;

const char *gated_text(void)
{
	char line[32];

	if (!--looks) {
		puts("held");
		if (!fgets(line, sizeof(line), stdin))
			exit(3);
	}
	return "";
}

int main(void)
{
	char line[32];
	long number;

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin) && sscanf(line, "%ld %d", &number, &looks) == 2) {
		lttng_ust_tracepoint(gated, step, number);
		printf("%ld\n", number);
	}
	return 0;
}
