/* The layout of what the tracer writes; docs/formats/recording.md describes it. */
#ifndef VESTIGE_PACKET_H
#define VESTIGE_PACKET_H

#include "../agreement/agreement.h"

/* The compact header with `ip` and `vpid`. */
#define USUAL_START_SIZE (COMPACT_HEADER_SIZE + PLACE_SIZE + ID_SIZE)

static inline uint32_t compact_header(uint32_t class, uint64_t time)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t) (time << HEADER_CLASS_BITS) | class;
#else
	return class << HEADER_TIME_BITS |
		((uint32_t) time & ((1u << HEADER_TIME_BITS) - 1));
#endif
}

#endif
