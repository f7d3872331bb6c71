/* hello WORD...: six records when there are three words. */
#include "hello-tp.h"

int main(int argc, char *argv[])
{
	int i;

	lttng_ust_tracepoint(hello_world, my_first_tracepoint, 23, "hi there!");
	for (i = 0; i < argc; i++) {
		lttng_ust_tracepoint(hello_world, my_first_tracepoint, i,
				     argv[i]);
	}
	lttng_ust_tracepoint(hello_world, my_first_tracepoint, i * i, "i^2");
	return 0;
}
