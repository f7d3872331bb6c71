/*
 * The field macros of provider headers, in terms of seven of our own, which each pass of
 * <lttng/tracepoint-event.h> defines anew.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_FIELDS_H
#define VESTIGE_FIELDS_H

/* Whether a type of integers, of an enumeration or of pointers is signed. */
#ifdef __cplusplus
/* Headers of programs are often in a block of C. */
extern "C++" {
#include <type_traits>

namespace vestige {
template <typename Type, bool = std::is_enum<Type>::value>
struct Signedness : std::is_signed<Type> {};
template <typename Type>
struct Signedness<Type, true>
	: std::is_signed<typename std::underlying_type<Type>::type> {};
}
}
#define VESTIGE_IS_SIGNED(type)	(::vestige::Signedness<type>::value)
#else
#define VESTIGE_IS_SIGNED(type)	((type) -1 < (type) 1)
#endif

/* More than any packet holds: such a record is dropped and counted. */
#define VESTIGE_TOO_LONG	((size_t) 1 << 40)
/* Whether the type of a sequence's length holds a length that a record may have. */
#define VESTIGE_HOLDS(type, length) \
	((length) < VESTIGE_TOO_LONG && (size_t) (type) (length) == (length))

#define lttng_ust_field_integer(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, 0)
#define lttng_ust_field_integer_nowrite(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_integer_hex(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_HEXADECIMAL)
#define lttng_ust_field_integer_hex_nowrite(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_integer_nowrite_hex(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_integer_network(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_BIG_ENDIAN)
#define lttng_ust_field_integer_network_nowrite(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_BIG_ENDIAN | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_integer_network_hex(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL)
#define lttng_ust_field_integer_network_hex_nowrite(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_integer_network_nowrite_hex(type, name, source) \
	VESTIGE_F_INTEGER(type, name, source, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_float(type, name, source) \
	VESTIGE_F_FLOAT(type, name, source, 0)
#define lttng_ust_field_float_nowrite(type, name, source) \
	VESTIGE_F_FLOAT(type, name, source, VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_string(name, source) \
	VESTIGE_F_STRING(name, source, 0)
#define lttng_ust_field_string_nowrite(name, source) \
	VESTIGE_F_STRING(name, source, VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, 0)
#define lttng_ust_field_array_nowrite(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_hex(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_HEXADECIMAL)
#define lttng_ust_field_array_hex_nowrite(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_nowrite_hex(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_network(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_BIG_ENDIAN)
#define lttng_ust_field_array_network_nowrite(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_BIG_ENDIAN | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_network_hex(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL)
#define lttng_ust_field_array_network_hex_nowrite(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_network_nowrite_hex(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_array_text(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_TEXT)
#define lttng_ust_field_array_text_nowrite(type, name, source, length) \
	VESTIGE_F_ARRAY(type, name, source, length, VESTIGE_TEXT | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   0)
#define lttng_ust_field_sequence_nowrite(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_hex(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_HEXADECIMAL)
#define lttng_ust_field_sequence_hex_nowrite(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_nowrite_hex(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_network(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_BIG_ENDIAN)
#define lttng_ust_field_sequence_network_nowrite(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_BIG_ENDIAN | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_network_hex(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL)
#define lttng_ust_field_sequence_network_hex_nowrite(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_network_nowrite_hex(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_BIG_ENDIAN | VESTIGE_HEXADECIMAL | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_sequence_text(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_TEXT)
#define lttng_ust_field_sequence_text_nowrite(type, name, source, length_type, length) \
	VESTIGE_F_SEQUENCE(type, name, source, length_type, length, \
			   VESTIGE_TEXT | VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_enum(provider, labels, type, name, source) \
	VESTIGE_F_ENUM(provider, labels, type, name, source, 0)
#define lttng_ust_field_enum_nowrite(provider, labels, type, name, source) \
	VESTIGE_F_ENUM(provider, labels, type, name, source, VESTIGE_NOT_WRITTEN)
#define lttng_ust_field_unused(source) \
	VESTIGE_F_UNUSED(source)
#define lttng_ust_field_unused_nowrite(source) \
	VESTIGE_F_UNUSED(source)

/* Bytes, since LTTng-UST 2.14: CTF 1.8 has no place for their media type. */
#define lttng_ust_field_fixed_length_blob(name, source, length, media_type) \
	lttng_ust_field_array_hex(uint8_t, name, source, length)
#define lttng_ust_field_fixed_length_blob_nowrite(name, source, length, media_type) \
	lttng_ust_field_array_hex_nowrite(uint8_t, name, source, length)
#define lttng_ust_field_variable_length_blob(name, source, length_type, length, media_type) \
	lttng_ust_field_sequence_hex(uint8_t, name, source, length_type, length)
#define lttng_ust_field_variable_length_blob_nowrite(name, source, length_type, length,	\
						     media_type)			\
	lttng_ust_field_sequence_hex_nowrite(uint8_t, name, source, length_type, length)

/* Labels of enumerations: one value, a range, the value after the label before. */
#define lttng_ust_field_enum_value(text, value) \
	{text, (int64_t) (value), (int64_t) (value), 0},
#define lttng_ust_field_enum_range(text, first, last) \
	{text, (int64_t) (first), (int64_t) (last), 0},
#define lttng_ust_field_enum_auto(text) {text, 0, 0, 1},

#define LTTNG_UST_TP_FIELDS(...)	__VA_ARGS__
#define LTTNG_UST_TP_ENUM_VALUES(...)	__VA_ARGS__

#if LTTNG_UST_COMPAT_API(0)
#define ctf_integer	lttng_ust_field_integer
#define ctf_integer_nowrite	lttng_ust_field_integer_nowrite
#define ctf_integer_hex	lttng_ust_field_integer_hex
#define ctf_integer_hex_nowrite	lttng_ust_field_integer_hex_nowrite
#define ctf_integer_nowrite_hex	lttng_ust_field_integer_nowrite_hex
#define ctf_integer_network	lttng_ust_field_integer_network
#define ctf_integer_network_nowrite	lttng_ust_field_integer_network_nowrite
#define ctf_integer_network_hex	lttng_ust_field_integer_network_hex
#define ctf_integer_network_hex_nowrite	lttng_ust_field_integer_network_hex_nowrite
#define ctf_integer_network_nowrite_hex	lttng_ust_field_integer_network_nowrite_hex
#define ctf_float	lttng_ust_field_float
#define ctf_float_nowrite	lttng_ust_field_float_nowrite
#define ctf_string	lttng_ust_field_string
#define ctf_string_nowrite	lttng_ust_field_string_nowrite
#define ctf_array	lttng_ust_field_array
#define ctf_array_nowrite	lttng_ust_field_array_nowrite
#define ctf_array_hex	lttng_ust_field_array_hex
#define ctf_array_hex_nowrite	lttng_ust_field_array_hex_nowrite
#define ctf_array_nowrite_hex	lttng_ust_field_array_nowrite_hex
#define ctf_array_network	lttng_ust_field_array_network
#define ctf_array_network_nowrite	lttng_ust_field_array_network_nowrite
#define ctf_array_network_hex	lttng_ust_field_array_network_hex
#define ctf_array_network_hex_nowrite	lttng_ust_field_array_network_hex_nowrite
#define ctf_array_network_nowrite_hex	lttng_ust_field_array_network_nowrite_hex
#define ctf_array_text	lttng_ust_field_array_text
#define ctf_array_text_nowrite	lttng_ust_field_array_text_nowrite
#define ctf_sequence	lttng_ust_field_sequence
#define ctf_sequence_nowrite	lttng_ust_field_sequence_nowrite
#define ctf_sequence_hex	lttng_ust_field_sequence_hex
#define ctf_sequence_hex_nowrite	lttng_ust_field_sequence_hex_nowrite
#define ctf_sequence_nowrite_hex	lttng_ust_field_sequence_nowrite_hex
#define ctf_sequence_network	lttng_ust_field_sequence_network
#define ctf_sequence_network_nowrite	lttng_ust_field_sequence_network_nowrite
#define ctf_sequence_network_hex	lttng_ust_field_sequence_network_hex
#define ctf_sequence_network_hex_nowrite	lttng_ust_field_sequence_network_hex_nowrite
#define ctf_sequence_network_nowrite_hex	lttng_ust_field_sequence_network_nowrite_hex
#define ctf_sequence_text	lttng_ust_field_sequence_text
#define ctf_sequence_text_nowrite	lttng_ust_field_sequence_text_nowrite
#define ctf_enum	lttng_ust_field_enum
#define ctf_enum_nowrite	lttng_ust_field_enum_nowrite
#define ctf_unused	lttng_ust_field_unused
#define ctf_unused_nowrite	lttng_ust_field_unused_nowrite
#define ctf_enum_value	lttng_ust_field_enum_value
#define ctf_enum_range	lttng_ust_field_enum_range
#define ctf_enum_auto	lttng_ust_field_enum_auto
#define TP_FIELDS	LTTNG_UST_TP_FIELDS
#define TP_ENUM_VALUES	LTTNG_UST_TP_ENUM_VALUES
#endif

#endif
