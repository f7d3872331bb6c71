/* Event record classes of tracepoints: their IDs, and how the metadata tells them. */
#ifndef VESTIGE_HOOKS_EVENT_CLASS_H
#define VESTIGE_HOOKS_EVENT_CLASS_H

#include <stdbool.h>

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"

/*
 * Find the ID of an event's record class in the recording of a channel, the same in all processes, and
 * have it written to the metadata unless it is there; 0 when that cannot be done, or nobody could read it.
 * Called with signals blocked.
 */
uint32_t event_class_id(uint32_t channel, const struct vestige_provider *provider,
			const struct vestige_event *event) HIDDEN;

/* Whether a reader takes its description: one with two fields of a name, or with a range of labels that
 * ends before it begins, would make the whole trace unreadable. */
bool event_class_is_readable(const struct vestige_event_class *class) HIDDEN;

#endif
