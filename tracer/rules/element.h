/* Elements of arrays of integers. */
#ifndef VESTIGE_RULES_ELEMENT_H
#define VESTIGE_RULES_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../include/vestige/tracepoint-abi.h"

/* An element that is there, of 1, 2, 4 or 8 bytes. */
static inline int64_t element_at(const struct vestige_value *value, size_t index,
				 unsigned int size, bool is_signed, bool is_swapped)
{
	const unsigned int bits = 8u * size;
	uint64_t number = 0;

	memcpy((char *) &number + (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? 0 : 8 - size),
	       (const char *) value->as.bytes + index * size, size);
	if (is_swapped)
		number = __builtin_bswap64(number) >> (64 - bits);
	if (is_signed && bits < 64 && number >> (bits - 1) & 1)
		number |= ~(uint64_t) 0 << bits;
	return (int64_t) number;
}

/* Whether elements of a field have another byte order than numbers here. */
static inline bool element_is_swapped(const struct vestige_field *field)
{
	return (field->flags & VESTIGE_BIG_ENDIAN) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

#endif
