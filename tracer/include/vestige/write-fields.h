/* Fields as statements that write them. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#ifndef VESTIGE_WRITE_FIELDS_H
#define VESTIGE_WRITE_FIELDS_H

/* Copy a string whose length was measured before: another thread may have cut it since,
 * and a zero inside would end the field too early. */
VESTIGE_INLINE char *vestige_write_text(char *at, const char *text, size_t length)
{
	char *zero;

	if (!text)
		text = "(null)";
	memcpy(at, text, length);
	zero = (char *) memchr(at, 0, length);
	if (__builtin_expect(zero != (char *) 0, 0))
		memset(zero, '#', length - (size_t) (zero - at));
	at[length] = '\0';
	return at + length + 1;
}
#endif

#define VESTIGE_F_NUMBER(type, source, flags)						\
	if (!((flags) & VESTIGE_NOT_WRITTEN)) {						\
		type vestige_number_ = (type) (source);					\
											\
		memcpy(vestige_at_, &vestige_number_, sizeof(type));			\
		vestige_at_ += sizeof(type);						\
	}
#define VESTIGE_F_INTEGER(type, name, source, flags) VESTIGE_F_NUMBER(type, source, flags)
#define VESTIGE_F_FLOAT(type, name, source, flags) VESTIGE_F_NUMBER(type, source, flags)
#define VESTIGE_F_ENUM(provider, labels, type, name, source, flags) \
	VESTIGE_F_NUMBER(type, source, flags)
#define VESTIGE_F_STRING(name, source, flags)						\
	if (!((flags) & VESTIGE_NOT_WRITTEN))						\
		vestige_at_ = vestige_write_text(vestige_at_, (const char *) (source),	\
						 *vestige_lengths_++);
#define VESTIGE_F_ARRAY(type, name, source, length, flags)				\
	if (!((flags) & VESTIGE_NOT_WRITTEN)) {						\
		memcpy(vestige_at_, source, sizeof(type) * (length));			\
		vestige_at_ += sizeof(type) * (length);					\
	}
#define VESTIGE_F_SEQUENCE(type, name, source, length_type, length, flags)		\
	if (!((flags) & VESTIGE_NOT_WRITTEN)) {						\
		const size_t vestige_length_ = *vestige_lengths_++;			\
		length_type vestige_number_ = (length_type) vestige_length_;		\
											\
		memcpy(vestige_at_, &vestige_number_, sizeof(length_type));		\
		vestige_at_ += sizeof(length_type);					\
		if (vestige_length_)							\
			memcpy(vestige_at_, source, sizeof(type) * vestige_length_);	\
		vestige_at_ += sizeof(type) * vestige_length_;				\
	}
#define VESTIGE_F_UNUSED(source) (void) (source);
