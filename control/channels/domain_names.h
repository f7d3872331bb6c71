/*
 * Domains as daemons name them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_DOMAIN_NAMES_H
#define VESTIGE_CONTROL_DOMAIN_NAMES_H

#include <lttng/domain.h>

/* Return the name of a domain; NULL of what is none. */
const char *control_domain_name(enum lttng_domain_type type);

/* Return the domain of a name; LTTNG_DOMAIN_NONE of what is none. */
enum lttng_domain_type control_domain_type(const char *name);

/* Return how buffers are shared, as sessions say it; NULL of what is not for user space. */
const char *control_buffers_name(enum lttng_buffer_type type);

#endif
