/*
 * What is captured of an event, in the protocol.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_EVENT_EXPR_H
#define VESTIGE_CONTROL_EVENT_EXPR_H

#include <lttng/event-expr.h>

#include "../protocol/json.h"
#include "../protocol/request.h"

/* Write an expression. */
void control_write_expression(struct request *request, const char *name,
			      const struct lttng_event_expr *expression);

/* Return an expression, NULL if it is none or there is no memory. */
struct lttng_event_expr *control_read_expression(const struct json *found);

#endif
