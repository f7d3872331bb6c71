/* lengthy [ROUNDS]: strings and sequences whose lengths grow to 8 KiB. */
#include <stdlib.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lengthy_tp.h"

#define LONGEST 8192

static char text[LONGEST + 1];
static uint16_t numbers[LONGEST];

static void emit(size_t length)
{
	char saved = text[length];

	text[length] = '\0';
	lttng_ust_tracepoint(lengthy, text, text, length);
	lttng_ust_tracepoint(lengthy, numbers, numbers, length / 4);
	text[length] = saved;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 2;

	for (size_t i = 0; i < LONGEST; i++) {
		text[i] = (char) (i % 97 == 0 ? '\n' : ' ' + i % 95);
		numbers[i] = (uint16_t) (i * 40503u);
	}
	for (int round = 0; round < rounds; round++)
		for (size_t length = 1; length <= LONGEST; length += length / 8 + 1)
			emit(length);
	emit(LONGEST);
	return 0;
}
