/* Fields as statements that write them. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#ifndef VESTIGE_WRITE_FIELDS_H
#define VESTIGE_WRITE_FIELDS_H

/* Longer texts are left to the C library. */
#define VESTIGE_SHORT_TEXT 64

/* The highest bit of a byte is set in the result if a byte is zero. */
VESTIGE_INLINE uint64_t vestige_zeros(uint64_t bytes)
{
	return (bytes - UINT64_C(0x0101010101010101)) & ~bytes & UINT64_C(0x8080808080808080);
}

/* Copy eight bytes, and look at them on the way: at the copy, the processor would wait. */
VESTIGE_INLINE uint64_t vestige_copy_word(char *at, const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof(word));
	/* Not loaded twice: another thread may write there. */
	__asm__ volatile("" : "+r"(word));
	memcpy(at, &word, sizeof(word));
	return vestige_zeros(word);
}

/* Copy the bytes of a text; returns whether there may be a zero among them. */
VESTIGE_INLINE int vestige_copy_text(char *at, const char *text, size_t length)
{
	uint64_t zeros = 0;
	size_t done = 0;

	if (length > VESTIGE_SHORT_TEXT) {
		memcpy(at, text, length);
		return memchr(at, 0, length) != (void *) 0;
	}
	if (length < sizeof(uint64_t)) {
		for (; done < length; done++) {
			const char byte = ((const volatile char *) text)[done];

			at[done] = byte;
			zeros |= !byte;
		}
		return zeros != 0;
	}
	for (; done + sizeof(uint64_t) < length; done += sizeof(uint64_t))
		zeros |= vestige_copy_word(at + done, text + done);
	/* The last ones overlap those before. */
	done = length - sizeof(uint64_t);
	zeros |= vestige_copy_word(at + done, text + done);
	return zeros != 0;
}

/* Write a string whose length was measured before: another thread may have cut it since,
 * and a zero inside would end the field too early. */
static __attribute__((noinline, unused)) VESTIGE_NOT_TRACED char *
vestige_write_text(char *at, const char *text, size_t length)
{
	if (!text)
		text = "(null)";
	if (__builtin_expect(vestige_copy_text(at, text, length), 0)) {
		char *zero = (char *) memchr(at, 0, length);

		if (zero)
			memset(zero, '#', length - (size_t) (zero - at));
	}
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
