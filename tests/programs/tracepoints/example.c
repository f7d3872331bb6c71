/* A file of 301 bytes; the documentation takes /etc/fstab for one. */
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "example-tp.h"

int main(void)
{
	struct stat s = {.st_size = 301};

	lttng_ust_tracepoint(my_provider, my_tracepoint, 23, "Hello, World!", &s);
	return 0;
}
