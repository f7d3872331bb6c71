/*
 * Records that go to several channels.
 *
 * Where only the first channel records an event, its ID is the class of the record. Else the event
 * has a route: for each channel, what its recording calls the class, and the filter of its rules. A
 * route never changes, and stays as long as the process runs: a thread may be in the middle of a
 * record when the event gets another one.
 *
 * The fields are written once, to the frame of who makes the record or, where they are many, to a draft.
 * When the record is committed, each channel gets one of its own, with its own contexts.
 */
#ifndef VESTIGE_STREAM_ROUTE_H
#define VESTIGE_STREAM_ROUTE_H

#include "../base/compiler.h"
#include "../include/vestige/tracepoint-abi.h"
#include "address.h"

/* The ID of events that have a route: that of a class that no tracepoint has. */
#define EVENT_ROUTED EVENT_FAST_EXIT

/* Whether a section may append records of a class, unless the stream has no chunk for those. */
bool route_is_usual(uint32_t channel, uint32_t class) HIDDEN;
/* Begin a record, at an earlier time if that is not 0. Returns where its fields go; NULL when it goes
 * nowhere. Which filters have passed is told by bits of their addresses. */
char *route_begin(const struct route *route, struct record *record, uint32_t passed,
		  const void *ip, size_t size, uint64_t earlier) HIDDEN;
/* Append it; the class of such a record is CLASS_ROUTED. */
void route_commit(struct record *record) HIDDEN;
/* Whether a channel of a route has recorded something since a time. */
bool route_is_later(const struct route *route, uint64_t time) HIDDEN;

#endif
