/* What the helpers share: functions that stand in for others, and tell the tracer. */
#ifndef VESTIGE_HELPER_H
#define VESTIGE_HELPER_H

#include "../base/compiler.h"

/* The place in the program, so that source lines show who called: inside of the call
 * instruction, since what it returns to may belong to the next line. */
#define CALLER() ((char *) __builtin_return_address(0) - 1)
/* What the probes take for the place of the event. */
#define LTTNG_UST_TP_IP_PARAM ip

#endif
