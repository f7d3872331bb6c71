/* Fields as statements that add up their sizes. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

/* What CTF has, and readers read. */
#define VESTIGE_FITS(name, type)							\
	VESTIGE_ASSERT(sizeof(type) <= 8,						\
		       "field " #name ": an integer of more than 64 bits, or no integer");
#define VESTIGE_F_PLAIN(bytes, flags) \
	vestige_size_ += (flags) & VESTIGE_NOT_WRITTEN ? 0 : (bytes);

#define VESTIGE_F_INTEGER(type, name, source, flags) \
	VESTIGE_FITS(name, type) VESTIGE_F_PLAIN(sizeof(type), flags)
#define VESTIGE_F_FLOAT(type, name, source, flags)					\
	VESTIGE_ASSERT(sizeof(type) == 4 || sizeof(type) == 8,				\
		       "field " #name ": neither float nor double");			\
	VESTIGE_F_PLAIN(sizeof(type), flags)
#define VESTIGE_F_ENUM(provider, labels, type, name, source, flags) \
	VESTIGE_FITS(name, type) VESTIGE_F_PLAIN(sizeof(type), flags)
#define VESTIGE_F_ARRAY(type, name, source, length, flags) \
	VESTIGE_FITS(name, type) VESTIGE_F_PLAIN(sizeof(type) * (length), flags)
#define VESTIGE_F_STRING(name, source, flags)						\
	if (!((flags) & VESTIGE_NOT_WRITTEN)) {						\
		const char *vestige_text_ = (const char *) (source);			\
											\
		*vestige_lengths_ = vestige_text_ ? strlen(vestige_text_) : sizeof("(null)") - 1;\
		vestige_size_ += *vestige_lengths_++ + 1;				\
	}
#define VESTIGE_F_SEQUENCE(type, name, source, length_type, length, flags)		\
	VESTIGE_FITS(name, type)							\
	if (!((flags) & VESTIGE_NOT_WRITTEN)) {						\
		const size_t vestige_length_ = (size_t) (length);			\
											\
		*vestige_lengths_++ = vestige_length_;					\
		vestige_size_ += sizeof(length_type) +					\
			(VESTIGE_HOLDS(length_type, vestige_length_)			\
				 ? vestige_length_ * sizeof(type) : VESTIGE_TOO_LONG);	\
	}
#define VESTIGE_F_UNUSED(source) (void) (source);
