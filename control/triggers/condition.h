/*
 * Conditions of triggers, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_CONDITION_H
#define VESTIGE_CONTROL_CONDITION_H

#include <stdatomic.h>
#include <stdbool.h>

#include <lttng/lttng.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

/* What a threshold of buffers is. */
enum threshold { THRESHOLD_UNSET, THRESHOLD_BYTES, THRESHOLD_RATIO };

struct lttng_condition {
	atomic_uint owners;
	enum lttng_condition_type type;
	struct lttng_event_rule *rule;
	struct lttng_event_expr **captures;
	unsigned int capture_count;
	char *session;
	char *channel;
	/* LTTNG_DOMAIN_NONE as long as it is not set. */
	enum lttng_domain_type domain;
	enum threshold threshold;
	uint64_t bytes;
	double ratio;
};

/* Return a condition of which nothing is set, NULL without memory. */
struct lttng_condition *control_new_condition(enum lttng_condition_type type);

/* Take a part in a condition, which lttng_condition_destroy() gives up. */
struct lttng_condition *control_hold_condition(struct lttng_condition *condition);

/* Tell whether all that it needs is set. */
bool control_is_complete_condition(const struct lttng_condition *condition);

/* Return a type's name in the protocol; the type of a name, or UNKNOWN. */
const char *control_condition_name(enum lttng_condition_type type);
enum lttng_condition_type control_condition_type(const char *name);

/* Write a condition that is complete. */
void control_write_condition(struct request *request, const char *name,
			     const struct lttng_condition *condition);

/* Return a condition, NULL if it is none or there is no memory. */
struct lttng_condition *control_read_condition(const struct json *found);

#endif
