/*
 * What is captured of an event: a field, a context, an element of one.
 *
 * Texts belong to their expression.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_EVENT_EXPR_H
#define VESTIGE_LTTNG_EVENT_EXPR_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

struct lttng_event_expr;

enum lttng_event_expr_type {
	LTTNG_EVENT_EXPR_TYPE_INVALID = -1,
	LTTNG_EVENT_EXPR_TYPE_EVENT_PAYLOAD_FIELD = 0,
	LTTNG_EVENT_EXPR_TYPE_CHANNEL_CONTEXT_FIELD = 1,
	LTTNG_EVENT_EXPR_TYPE_APP_SPECIFIC_CONTEXT_FIELD = 2,
	LTTNG_EVENT_EXPR_TYPE_ARRAY_FIELD_ELEMENT = 3,
};

enum lttng_event_expr_status {
	LTTNG_EVENT_EXPR_STATUS_INVALID = -1,
	LTTNG_EVENT_EXPR_STATUS_OK = 0,
};

enum lttng_event_expr_type lttng_event_expr_get_type(const struct lttng_event_expr *expr);

struct lttng_event_expr *lttng_event_expr_event_payload_field_create(const char *field_name);

const char *lttng_event_expr_event_payload_field_get_name(const struct lttng_event_expr *expr);

struct lttng_event_expr *lttng_event_expr_channel_context_field_create(const char *field_name);

const char *lttng_event_expr_channel_context_field_get_name(const struct lttng_event_expr *expr);

struct lttng_event_expr *
lttng_event_expr_app_specific_context_field_create(const char *provider_name,
						   const char *type_name);

const char *lttng_event_expr_app_specific_context_field_get_provider_name(
	const struct lttng_event_expr *expr);

const char *
lttng_event_expr_app_specific_context_field_get_type_name(const struct lttng_event_expr *expr);

/* An element of what another expression means, which the new one takes over. */
struct lttng_event_expr *
lttng_event_expr_array_field_element_create(struct lttng_event_expr *array_field_expr,
					    unsigned int index);

const struct lttng_event_expr *
lttng_event_expr_array_field_element_get_parent_expr(const struct lttng_event_expr *expr);

enum lttng_event_expr_status
lttng_event_expr_array_field_element_get_index(const struct lttng_event_expr *expr,
					       unsigned int *index);

/* Tell whether two expressions mean the same. */
bool lttng_event_expr_is_equal(const struct lttng_event_expr *expr_a,
			       const struct lttng_event_expr *expr_b);

void lttng_event_expr_destroy(struct lttng_event_expr *expr);

#ifdef __cplusplus
}
#endif

#endif
