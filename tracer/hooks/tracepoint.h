/* Tracepoints of programs: include/vestige/tracepoint-abi.h has what both sides share. */
#ifndef VESTIGE_HOOKS_TRACEPOINT_H
#define VESTIGE_HOOKS_TRACEPOINT_H

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

extern const struct vestige_tracer vestige_tracer;

/* Apply the rules of all channels to all tracepoints: those of events that none takes are tested no
 * more. */
void tracepoints_choose(void) HIDDEN;
/* As that, after something was changed that is looked at for it: meanwhile nobody does. */
void tracepoints_change(void (*change)(void *data), void *data) HIDDEN;
/* Before another recording of a channel: events have no class in it yet. */
void tracepoints_forget(uint32_t channel) HIDDEN;
/* Call a function with each event of each provider, of which none comes or goes meanwhile. */
void tracepoints_each(void (*visit)(const struct vestige_provider *provider,
				    const struct vestige_event *event, void *data),
		      void *data) HIDDEN;

#endif
