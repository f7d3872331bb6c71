/* Says hello: one event at the start, one for each argument, one at the end. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "greeting_tp.h"

static void greet(int number, const char *text)
{
	lttng_ust_tracepoint(greeting, said, number, text);
}

int main(int argc, char **argv)
{
	lttng_ust_tracepoint(greeting, said, -1, "good morning");
	for (int i = 1; i < argc; i++)
		greet(i, argv[i]);
	lttng_ust_tracepoint(greeting, said, argc * argc, "good night");
	return 0;
}
