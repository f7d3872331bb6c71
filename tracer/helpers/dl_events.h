/* The events of dl.c: those of LTTng-UST's liblttng-ust-dl, see lttng-ust-dl(3). */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER lttng_ust_dl

#if !defined(VESTIGE_DL_EVENTS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define VESTIGE_DL_EVENTS_H

#include <stdint.h>

#include <lttng/tracepoint.h>

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_dl, dlopen,
	LTTNG_UST_TP_ARGS(uint64_t, baddr, uint64_t, memsz, int, flags, const char *, path,
			  uint8_t, has_build_id, uint8_t, has_debug_link, const char *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, baddr, baddr)
		lttng_ust_field_integer(uint64_t, memsz, memsz)
		lttng_ust_field_integer_hex(int, flags, flags)
		lttng_ust_field_string(path, path)
		lttng_ust_field_integer(uint8_t, has_build_id, has_build_id)
		lttng_ust_field_integer(uint8_t, has_debug_link, has_debug_link)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_dl, dlmopen,
	LTTNG_UST_TP_ARGS(uint64_t, baddr, uint64_t, memsz, int64_t, nsid, int, flags,
			  const char *, path, uint8_t, has_build_id, uint8_t, has_debug_link,
			  const char *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, baddr, baddr)
		lttng_ust_field_integer(uint64_t, memsz, memsz)
		lttng_ust_field_integer(int64_t, nsid, nsid)
		lttng_ust_field_integer_hex(int, flags, flags)
		lttng_ust_field_string(path, path)
		lttng_ust_field_integer(uint8_t, has_build_id, has_build_id)
		lttng_ust_field_integer(uint8_t, has_debug_link, has_debug_link)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_dl, build_id,
	LTTNG_UST_TP_ARGS(uint64_t, baddr, const uint8_t *, build_id, size_t, size,
			  const char *, ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, baddr, baddr)
		lttng_ust_field_sequence_hex(uint8_t, build_id, build_id, size_t, size)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_dl, debug_link,
	LTTNG_UST_TP_ARGS(uint64_t, baddr, uint32_t, crc, const char *, filename, const char *,
			  ip),
	LTTNG_UST_TP_FIELDS(
		lttng_ust_field_integer_hex(uint64_t, baddr, baddr)
		lttng_ust_field_integer(uint32_t, crc, crc)
		lttng_ust_field_string(filename, filename)))

LTTNG_UST_TRACEPOINT_EVENT(
	lttng_ust_dl, dlclose,
	LTTNG_UST_TP_ARGS(uint64_t, baddr, const char *, ip),
	LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(uint64_t, baddr, baddr)))

#endif

#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "dl_events.h"
#include <lttng/tracepoint-event.h>
