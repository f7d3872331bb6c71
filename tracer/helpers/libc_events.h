/* The events of libc.c: those of LTTng-UST's liblttng-ust-libc-wrapper, see lttng-ust(3). */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_ust_libc

#if !defined(VESTIGE_LIBC_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VESTIGE_LIBC_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, malloc,
	LTTNG_UST_TP_ARGS(size_t, size, void *, ptr, void *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(size_t, size, size)
		lttng_ust_field_integer_hex(uintptr_t, ptr, ptr)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, calloc,
	LTTNG_UST_TP_ARGS(size_t, nmemb, size_t, size, void *, ptr, void *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(size_t, nmemb, nmemb)
		lttng_ust_field_integer(size_t, size, size)
		lttng_ust_field_integer_hex(uintptr_t, ptr, ptr)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, realloc,
	LTTNG_UST_TP_ARGS(uintptr_t, in_ptr, size_t, size, void *, ptr, void *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uintptr_t, in_ptr, in_ptr)
		lttng_ust_field_integer(size_t, size, size)
		lttng_ust_field_integer_hex(uintptr_t, ptr, ptr)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, free,
	LTTNG_UST_TP_ARGS(void *, ptr, void *, ip),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uintptr_t, ptr, ptr)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, memalign,
	LTTNG_UST_TP_ARGS(size_t, alignment, size_t, size, void *, ptr, void *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer(size_t, alignment, alignment)
		lttng_ust_field_integer(size_t, size, size)
		lttng_ust_field_integer_hex(uintptr_t, ptr, ptr)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_libc, posix_memalign,
	LTTNG_UST_TP_ARGS(void *, out_ptr, size_t, alignment, size_t, size, int, result, void *,
			  ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uintptr_t, out_ptr, out_ptr)
		lttng_ust_field_integer(size_t, alignment, alignment)
		lttng_ust_field_integer(size_t, size, size)
		lttng_ust_field_integer(int, result, result)))

#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "libc_events.h"
#include <lttng/tracepoint-event.h>
