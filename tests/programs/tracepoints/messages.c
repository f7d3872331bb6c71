/* Messages as printf(3) has them: short, empty, long, with a level, with a list. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <lttng/tracef.h>
#include <lttng/tracelog.h>

static void listed(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	lttng_ust_vtracef(format, arguments);
	va_end(arguments);
	va_start(arguments, format);
	lttng_ust_vtracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_NOTICE, format, arguments);
	va_end(arguments);
}

int main(void)
{
	static char text[20001];

	lttng_ust_tracef("plain");
	lttng_ust_tracef("%d %s %5.2f %c%%", 42, "text", 1.5, 'x');
	lttng_ust_tracef("%s", "");
	for (size_t length = 254; length < 260; length++) {
		memset(text, 'a' + (int) length % 26, length);
		text[length] = '\0';
		lttng_ust_tracef("%s", text);
	}
	memset(text, 'z', sizeof(text) - 1);
	lttng_ust_tracef("<%s>", text);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_EMERG, "level %d", 0);
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING, "level");
	lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_DEBUG, "%s", text);
	listed("%d and %s", 7, "eight");
	return 0;
}
