/* The events of pthread.c: those of LTTng-UST's liblttng-ust-pthread-wrapper. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_ust_pthread

#if !defined(VESTIGE_PTHREAD_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VESTIGE_PTHREAD_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_pthread, pthread_mutex_lock_req,
	LTTNG_UST_TP_ARGS(void *, mutex, void *, ip),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, mutex, mutex)))

LTTNG_UST_TRACEPOINT_EVENT_CLASS(
	lttng_ust_pthread, with_status,
	LTTNG_UST_TP_ARGS(void *, mutex, int, status, void *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uintptr_t, mutex, mutex)
		lttng_ust_field_integer(int, status, status)))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
	lttng_ust_pthread, with_status, lttng_ust_pthread, pthread_mutex_lock_acq,
	LTTNG_UST_TP_ARGS(void *, mutex, int, status, void *, ip))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
	lttng_ust_pthread, with_status, lttng_ust_pthread, pthread_mutex_trylock,
	LTTNG_UST_TP_ARGS(void *, mutex, int, status, void *, ip))

LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(
	lttng_ust_pthread, with_status, lttng_ust_pthread, pthread_mutex_unlock,
	LTTNG_UST_TP_ARGS(void *, mutex, int, status, void *, ip))

#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "pthread_events.h"
#include <lttng/tracepoint-event.h>
