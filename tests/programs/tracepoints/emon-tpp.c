/* The provider package. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "emon-tp.h"
