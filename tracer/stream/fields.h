/* Writing the header, the contexts and the fields of a record; docs/formats/recording.md
 * describes them. */
#ifndef VESTIGE_STREAM_FIELDS_H
#define VESTIGE_STREAM_FIELDS_H

#include <string.h>

#include "../agreement/agreement.h"
#include "../base/cpu.h"
#include "../base/settings.h"
#include "context.h"
#include "state.h"

/* The compact header with `ip` and `vpid`. */
#define USUAL_START_SIZE (COMPACT_HEADER_SIZE + PLACE_SIZE + ID_SIZE)

static inline uint32_t compact_header(uint32_t class, uint64_t time)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t) (time << HEADER_CLASS_BITS) | class;
#else
	return class << HEADER_TIME_BITS | ((uint32_t) time & ((1u << HEADER_TIME_BITS) - 1));
#endif
}

static inline void write_bytes(struct record *record, const void *bytes, size_t size)
{
	memcpy(record->at, bytes, size);
	record->at += size;
}

static inline void write_u64(struct record *record, uint64_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_u32(struct record *record, uint32_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_u8(struct record *record, uint8_t value)
{
	write_bytes(record, &value, sizeof(value));
}

#define IS_LITTLE_ENDIAN (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

static inline void write_u16(struct record *record, uint16_t value)
{
	write_bytes(record, &value, sizeof(value));
}

static inline void write_place(struct record *record, const void *place)
{
	record->at = encode_place(record->at, (uintptr_t) place);
}

static inline void write_contexts(struct record *record, const void *ip)
{
	const unsigned int contexts = settings.contexts;

	if (contexts & CONTEXT_IP)
		write_place(record, ip);
	if (contexts & CONTEXT_VPID)
		write_u32(record, record->stream->vpid);
	if (contexts & CONTEXT_VTID)
		write_u32(record, record->stream->vtid);
	if (contexts & CONTEXT_PROCNAME)
		write_bytes(record, record->stream->procname, sizeof(record->stream->procname));
	if (contexts & CONTEXT_CPU_ID)
		write_u16(record, cpu_read());
	if (UNLIKELY(contexts & MORE_CONTEXTS))
		record->at = contexts_write_more(record->at);
}

/* The compact header, `ip` and `vpid`, 14 bytes: what records have by default, in two stores
 * that overlap instead of four. */
static inline void write_usual_start(struct record *record, uint32_t header, const void *ip)
{
	const uint64_t place = (uintptr_t) ip & ((1ull << 48) - 1);
	const uint64_t first = header | place << 32;
	const uint64_t rest = place >> 16 | (uint64_t) record->stream->vpid << 32;

	memcpy(record->at, &first, sizeof(first));
	memcpy(record->at + USUAL_START_SIZE - sizeof(rest), &rest, sizeof(rest));
	record->at += USUAL_START_SIZE;
}

#endif
