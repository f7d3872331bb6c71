/*
 * Domains of tracing: where event records come from, and how buffers are shared.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_DOMAIN_H
#define VESTIGE_LTTNG_DOMAIN_H

#include <lttng/constant.h>

#ifdef __cplusplus
extern "C" {
#endif

enum lttng_domain_type {
	LTTNG_DOMAIN_NONE = 0,
	LTTNG_DOMAIN_KERNEL = 1,
	LTTNG_DOMAIN_UST = 2,
	LTTNG_DOMAIN_JUL = 3,
	LTTNG_DOMAIN_LOG4J = 4,
	LTTNG_DOMAIN_PYTHON = 5,
};

enum lttng_buffer_type {
	LTTNG_BUFFER_PER_PID,
	LTTNG_BUFFER_PER_UID,
	LTTNG_BUFFER_GLOBAL,
};

/* As much as says for what a handle, a channel or a list is. Bytes without a meaning are zero. */
struct lttng_domain {
	enum lttng_domain_type type;
	enum lttng_buffer_type buf_type;
	char padding[12];
	union {
		pid_t pid;
		char exec_name[LTTNG_NAME_MAX];
		char padding[288];
	} attr;
};

/* Return how many domains a session has, and an array of them that is to be freed. */
int lttng_list_domains(const char *session_name, struct lttng_domain **domains);

#ifdef __cplusplus
}
#endif

#endif
