/*
 * Sizes of names and paths in the structures of LTTng's control library.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CONSTANT_H
#define VESTIGE_LTTNG_CONSTANT_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#ifndef LTTNG_DEPRECATED
#define LTTNG_DEPRECATED(instead) __attribute__((deprecated(instead)))
#endif

/* Bytes, with the end of the text, unless the name says otherwise. */
#define LTTNG_SYMBOL_NAME_LEN 256
#define LTTNG_NAME_MAX 255
#define LTTNG_HOST_NAME_MAX 256
#define LTTNG_PATH_MAX 4096

#define LTTNG_MAX_PID INT32_MAX
#define LTTNG_MAX_PID_STR "2147483647"

#endif
