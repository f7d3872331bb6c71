/* Messages by the names from before LTTng-UST 2.13. */
#include <lttng/tracef.h>
#include <lttng/tracelog.h>

void old_messages(void);

void old_messages(void)
{
	tracef("%d", 4);
	tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_ERR, "%s", "five");
}
