/* Fields as text for `vestige list`: kind, type, name, length, flags; a line each.
 * SPDX-License-Identifier: MIT */
#include <vestige/undefine-fields.h>

#define VESTIGE_F_INTEGER(type, name, source, flags) \
	"\ninteger\t" #type "\t" #name "\t\t" #flags
#define VESTIGE_F_FLOAT(type, name, source, flags) \
	"\nfloat\t" #type "\t" #name "\t\t" #flags
#define VESTIGE_F_STRING(name, source, flags) \
	"\nstring\tchar\t" #name "\t\t" #flags
#define VESTIGE_F_ARRAY(type, name, source, length, flags) \
	"\narray\t" #type "\t" #name "\t" #length "\t" #flags
#define VESTIGE_F_SEQUENCE(type, name, source, length_type, length, flags) \
	"\nsequence\t" #type "\t" #name "\t" #length_type "\t" #flags
#define VESTIGE_F_ENUM(provider, labels, type, name, source, flags) \
	"\nenum\t" #type "\t" #name "\t" #provider ":" #labels "\t" #flags
#define VESTIGE_F_UNUSED(source)
