/* Fields as statements that write them. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#ifndef VESTIGE_WRITE_FIELDS_H
#define VESTIGE_WRITE_FIELDS_H

/* Sixteen bytes, and a register of the machine for them. */
typedef unsigned char vestige_wide __attribute__((vector_size(16)));
#if defined(__SSE2__)
#define VESTIGE_WIDE "+x"
#elif defined(__aarch64__)
#define VESTIGE_WIDE "+w"
#endif

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

#ifdef VESTIGE_WIDE
/* Of sixteen bytes, the least that there were at each place; or zero where one was zero, else not. */
VESTIGE_INLINE vestige_wide vestige_least(vestige_wide least, vestige_wide word)
{
#ifdef __SSE2__
	__asm__("pminub %1, %0" : "+x"(least) : "x"(word));
	return least;
#else
	return least & ~(vestige_wide) (word == 0);
#endif
}

/* Copy sixteen bytes, and look at them on the way. */
VESTIGE_INLINE vestige_wide vestige_copy_wide(char *at, const char *text)
{
	vestige_wide word;

	memcpy(&word, text, sizeof(word));
	__asm__ volatile("" : VESTIGE_WIDE(word));
	memcpy(at, &word, sizeof(word));
	return word;
}

/* Copy sixty-four bytes. */
VESTIGE_INLINE vestige_wide vestige_copy_wides(char *at, const char *text)
{
	const size_t wide = sizeof(vestige_wide);
	const vestige_wide first = vestige_copy_wide(at, text);
	const vestige_wide second = vestige_copy_wide(at + wide, text + wide);
	const vestige_wide third = vestige_copy_wide(at + 2 * wide, text + 2 * wide);
	const vestige_wide fourth = vestige_copy_wide(at + 3 * wide, text + 3 * wide);

	return vestige_least(vestige_least(first, second), vestige_least(third, fourth));
}

/* Copy at least as many bytes as a wide word has. */
VESTIGE_INLINE int vestige_copy_long_text(char *at, const char *text, size_t length)
{
	const size_t wide = sizeof(vestige_wide);
	vestige_wide least = vestige_copy_wide(at, text);
	uint64_t halves[2];
	/* All but the first and the last are stored where no line of the cache ends in them. */
	size_t done = wide - ((size_t) at & (wide - 1));

	for (; done + 4 * wide < length; done += 4 * wide)
		least = vestige_least(least, vestige_copy_wides(at + done, text + done));
	for (; done + wide < length; done += wide)
		least = vestige_least(least, vestige_copy_wide(at + done, text + done));
	/* The last ones overlap those before. */
	least = vestige_least(least,
			      vestige_copy_wide(at + length - wide, text + length - wide));
	least = (vestige_wide) (least == 0);
	memcpy(halves, &least, sizeof(halves));
	return (halves[0] | halves[1]) != 0;
}
#else
VESTIGE_INLINE int vestige_copy_long_text(char *at, const char *text, size_t length)
{
	memcpy(at, text, length);
	return memchr(at, 0, length) != (void *) 0;
}
#endif

/* Copy the bytes of a text; returns whether there may be a zero among them. */
VESTIGE_INLINE int vestige_copy_text(char *at, const char *text, size_t length)
{
	uint64_t zeros = 0;
	size_t done = 0;

	if (length >= sizeof(vestige_wide))
		return vestige_copy_long_text(at, text, length);
	if (length >= sizeof(uint64_t)) {
		zeros = vestige_copy_word(at, text);
		done = length - sizeof(uint64_t);
		return (zeros | vestige_copy_word(at + done, text + done)) != 0;
	}
	for (; done < length; done++) {
		const char byte = ((const volatile char *) text)[done];

		at[done] = byte;
		zeros |= !byte;
	}
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
