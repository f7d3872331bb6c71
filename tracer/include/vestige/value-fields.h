/* Fields as statements that show them to a filter. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#ifndef VESTIGE_VALUE_FIELDS_H
#define VESTIGE_VALUE_FIELDS_H

/* An integer of a type's size in network byte order, as a number. */
VESTIGE_INLINE int64_t vestige_from_network(uint64_t value, size_t size, int is_signed)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	value = __builtin_bswap64(value) >> (64 - 8 * size);
#endif
	if (is_signed && size < 8 && value >> (8 * size - 1) & 1)
		value |= ~(uint64_t) 0 << (8 * size);
	return (int64_t) value;
}
#endif

#define VESTIGE_F_WHOLE(type, source, flags)						\
	{										\
		type vestige_number_ = (type) (source);					\
											\
		vestige_value_->as.integer = (int64_t) vestige_number_;			\
		if ((flags) & VESTIGE_BIG_ENDIAN)					\
			vestige_value_->as.integer = vestige_from_network(		\
				(uint64_t) vestige_number_, sizeof(type), VESTIGE_IS_SIGNED(type));\
		vestige_value_++->length = 1;						\
	}
#define VESTIGE_F_INTEGER(type, name, source, flags) VESTIGE_F_WHOLE(type, source, flags)
#define VESTIGE_F_ENUM(provider, labels, type, name, source, flags) \
	VESTIGE_F_WHOLE(type, source, flags)
#define VESTIGE_F_FLOAT(type, name, source, flags)					\
	vestige_value_->as.real = (double) (source);					\
	vestige_value_++->length = 1;
#define VESTIGE_F_STRING(name, source, flags)						\
	vestige_value_->as.bytes = (const void *) (source);				\
	vestige_value_->length = vestige_value_->as.bytes				\
		? strlen((const char *) vestige_value_->as.bytes) : 0;			\
	vestige_value_++;
#define VESTIGE_F_ARRAY(type, name, source, length_, flags)				\
	vestige_value_->as.bytes = (const void *) (source);				\
	vestige_value_++->length = (size_t) (length_);
#define VESTIGE_F_SEQUENCE(type, name, source, length_type, length_, flags)		\
	vestige_value_->as.bytes = (const void *) (source);				\
	vestige_value_->length = (size_t) (length_);					\
	if (!VESTIGE_HOLDS(length_type, vestige_value_->length))			\
		vestige_value_->length = 0;						\
	vestige_value_++;
#define VESTIGE_F_UNUSED(source) (void) (source);
