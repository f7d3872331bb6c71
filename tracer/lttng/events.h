/* What probes of LTTng-UST call to write their records. */
#ifndef VESTIGE_LTTNG_EVENTS_H
#define VESTIGE_LTTNG_EVENTS_H

#include "../base/compiler.h"
#include "recorded.h"

/* Let the probe of an event record it. It has its ID, and its filter. */
void events_enable(struct ust_recorded *event) HIDDEN;

#endif
