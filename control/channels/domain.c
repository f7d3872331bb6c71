/*
 * Domains of sessions, and handles on them.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "domain_names.h"

struct lttng_handle *lttng_create_handle(const char *session_name, struct lttng_domain *domain)
{
	struct lttng_handle *const handle = calloc(1, sizeof(*handle));

	if (!handle)
		return NULL;
	control_copy(handle->session_name, sizeof(handle->session_name), session_name);
	if (domain)
		handle->domain = *domain;
	return handle;
}

void lttng_destroy_handle(struct lttng_handle *handle)
{
	free(handle);
}

/* Fill in the domains of a session, for which there is room. */
static int fill(struct lttng_domain *domains, const struct json *session)
{
	const char *const buffers = control_text_member(session, "buffers");
	int count = 0;

	if (control_count(control_member(session, "kernel_channels"))) {
		domains[count].type = LTTNG_DOMAIN_KERNEL;
		domains[count++].buf_type = LTTNG_BUFFER_GLOBAL;
	}
	if (control_count(control_member(session, "channels"))) {
		domains[count].type = LTTNG_DOMAIN_UST;
		domains[count++].buf_type = buffers && strcmp(buffers, "pid") == 0
			? LTTNG_BUFFER_PER_PID
			: LTTNG_BUFFER_PER_UID;
	}
	for (CONTROL_EACH(rules, control_member(session, "agents"))) {
		const enum lttng_domain_type type = control_domain_type(rules->name);

		if (type == LTTNG_DOMAIN_NONE || control_count(rules) == 0)
			continue;
		domains[count].type = type;
		domains[count++].buf_type = LTTNG_BUFFER_PER_UID;
	}
	return count;
}

int lttng_list_domains(const char *session_name, struct lttng_domain **domains)
{
	struct lttng_domain *found;
	struct answer answer;
	int code;

	if (!session_name || !domains)
		return -LTTNG_ERR_INVALID;
	code = control_ask_of_session("describe", session_name, &answer);
	if (code)
		return code;
	found = calloc((size_t) control_count(control_member(answer.value, "agents")) + 2,
		       sizeof(*found));
	code = found ? fill(found, answer.value) : -LTTNG_ERR_NOMEM;
	if (code >= 0)
		*domains = found;
	control_free_answer(&answer);
	return code;
}
