/*
 * A session and a domain of it, for the functions of channels and events.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_HANDLE_H
#define VESTIGE_LTTNG_HANDLE_H

#include <lttng/domain.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_handle {
	char session_name[LTTNG_NAME_MAX];
	struct lttng_domain domain;
	char padding[16];
};

/* Return a new handle, without asking whether there is such a session; NULL without memory. */
struct lttng_handle *lttng_create_handle(const char *session_name, struct lttng_domain *domain);

void lttng_destroy_handle(struct lttng_handle *handle);

#ifdef __cplusplus
}
#endif

#endif
