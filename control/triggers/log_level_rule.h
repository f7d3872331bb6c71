/*
 * Rules for log levels, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_LOG_LEVEL_RULE_H
#define VESTIGE_CONTROL_LOG_LEVEL_RULE_H

#include <lttng/log-level-rule.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

/* Return a copy of a rule, NULL without memory. */
struct lttng_log_level_rule *control_copy_level_rule(const struct lttng_log_level_rule *rule);

/* Write a rule. */
void control_write_level_rule(struct request *request, const char *name,
			      const struct lttng_log_level_rule *rule);

/* Return a rule, NULL if it is none or there is no memory. */
struct lttng_log_level_rule *control_read_level_rule(const struct json *found);

#endif
