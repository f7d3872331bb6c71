/* One record with fields of many types. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "types-tp.h"

int main(void)
{
	struct inner in = {{1, 2, -3}, "abcdefg"};

	lttng_ust_tracepoint(types, all, true, GREEN, (void *) 0x1234, (const void *) 0x5678,
			     &in, 77, (const unsigned char *) "xyz");
	return 0;
}
