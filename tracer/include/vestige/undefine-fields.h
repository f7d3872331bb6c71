/* Before a pass gives the field macros another meaning. SPDX-License-Identifier: MIT */
#undef VESTIGE_F_INTEGER
#undef VESTIGE_F_FLOAT
#undef VESTIGE_F_STRING
#undef VESTIGE_F_ARRAY
#undef VESTIGE_F_SEQUENCE
#undef VESTIGE_F_ENUM
#undef VESTIGE_F_UNUSED
#undef VESTIGE_FITS
#undef VESTIGE_F_PLAIN
