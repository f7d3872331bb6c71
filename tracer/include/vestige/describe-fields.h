/* Fields as elements of an array of struct vestige_field. SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#define VESTIGE_NO_LABELS (const struct vestige_enum *) 0
#define VESTIGE_SIGN(type, flag) (VESTIGE_IS_SIGNED(type) ? (flag) : 0)

#define VESTIGE_F_INTEGER(type, name, source, flags)					\
	{#name, VESTIGE_INTEGER, (uint8_t) ((flags) | VESTIGE_SIGN(type, VESTIGE_SIGNED)),	\
	 sizeof(type), 0, 0, VESTIGE_NO_LABELS},
#define VESTIGE_F_FLOAT(type, name, source, flags) \
	{#name, VESTIGE_FLOAT, flags, sizeof(type), 0, 0, VESTIGE_NO_LABELS},
#define VESTIGE_F_STRING(name, source, flags) \
	{#name, VESTIGE_STRING, flags, 1, 0, 0, VESTIGE_NO_LABELS},
#define VESTIGE_F_ARRAY(type, name, source, length, flags)				\
	{#name, VESTIGE_ARRAY, (uint8_t) ((flags) | VESTIGE_SIGN(type, VESTIGE_SIGNED)),	\
	 sizeof(type), 0, length, VESTIGE_NO_LABELS},
#define VESTIGE_F_SEQUENCE(type, name, source, length_type, length, flags)		\
	{#name, VESTIGE_SEQUENCE,							\
	 (uint8_t) ((flags) | VESTIGE_SIGN(type, VESTIGE_SIGNED)),			\
	 sizeof(type), sizeof(length_type), 0, VESTIGE_NO_LABELS},
#define VESTIGE_F_ENUM(provider, labels, type, name, source, flags)			\
	{#name, VESTIGE_ENUM, (uint8_t) ((flags) | VESTIGE_SIGN(type, VESTIGE_SIGNED)),	\
	 sizeof(type), 0, 0, &vestige_enum_##provider##___##labels},
#define VESTIGE_F_UNUSED(source)
