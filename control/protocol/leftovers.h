/*
 * Symbols of LTTng's library that are in no header and that programs need nevertheless.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_LEFTOVERS_H
#define VESTIGE_CONTROL_LEFTOVERS_H

extern int lttng_opt_quiet;
extern int lttng_opt_verbose;
extern int lttng_opt_mi;

#endif
