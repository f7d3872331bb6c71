/* flood [EVENTS [BURSTS [PAUSE_US [GATE]]]]: emits without a pause, so that small buffers overflow.
 * After the first burst it waits until there is a file GATE, if it is given one. */
#include <stdlib.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "flood_tp.h"

int main(int argc, char **argv)
{
	unsigned long events = argc > 1 ? strtoul(argv[1], NULL, 10) : 20000;
	unsigned long bursts = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	unsigned int pause = argc > 3 ? (unsigned int) strtoul(argv[3], NULL, 10) : 0;

	for (unsigned long burst = 0; burst < bursts; burst++) {
		for (unsigned long i = 0; i < events; i++)
			lttng_ust_tracepoint(flood, drop, burst * events + i);
		usleep(pause);
		while (burst == 0 && argc > 4 && access(argv[4], F_OK) != 0)
			usleep(1000);
	}
	return 0;
}
