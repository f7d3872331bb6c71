/* The header of an event record; docs/formats/recording.md describes it. */
#ifndef VESTIGE_STREAM_HEADER_H
#define VESTIGE_STREAM_HEADER_H

#include <stdint.h>
#include <string.h>

#include "../agreement/agreement.h"

/* Of a record that comes some time after another, also where that time is negative. */
static inline uint32_t header_size(uint32_t class, uint64_t since)
{
	return since >> HEADER_TIME_BITS || class >= HEADER_EXTENDED ? EXTENDED_HEADER_SIZE
								     : COMPACT_HEADER_SIZE;
}

static inline uint32_t compact_header(uint32_t class, uint64_t time)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t) (time << HEADER_CLASS_BITS) | class;
#else
	return class << HEADER_TIME_BITS | ((uint32_t) time & ((1u << HEADER_TIME_BITS) - 1));
#endif
}

static inline void write_header(char *at, uint32_t size, uint32_t class, uint64_t time)
{
	if (__builtin_expect(size == COMPACT_HEADER_SIZE, 1)) {
		const uint32_t header = compact_header(class, time);

		memcpy(at, &header, sizeof(header));
	} else {
		*(uint8_t *) at = HEADER_EXTENDED;
		memcpy(at + 1, &class, sizeof(class));
		memcpy(at + 1 + sizeof(class), &time, sizeof(time));
	}
}

#endif
