/* Tracepoints by the names from before LTTng-UST 2.13. */
#define TRACEPOINT_CREATE_PROBES
#define TRACEPOINT_DEFINE
#include "old_names-tp.h"

void old_messages(void);

int main(void)
{
	static const long numbers[] = {-1, 1};

	for (int i = 0; i < 12; i++)
		tracepoint(old, event, i, "text", numbers);
	if (tracepoint_enabled(old, instance))
		do_tracepoint(old, instance, 3);
	old_messages();
	return 0;
}
