/*
 * The errors that a daemon names.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_ERROR_NAMES_H
#define VESTIGE_CONTROL_ERROR_NAMES_H

#include <lttng/lttng-error.h>

/* Return the code of an error that is named as daemons do; an unknown one has that of these. */
enum lttng_error_code control_error_code(const char *name);

#endif
