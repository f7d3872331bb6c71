/*
 * Expressions of captures.
 *
 * SPDX-License-Identifier: MIT
 */
#include "event_expr.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"

struct lttng_event_expr {
	enum lttng_event_expr_type type;
	char *provider;
	char *name;
	struct lttng_event_expr *parent;
	unsigned int index;
};

/* Deeper than any type of a field. */
#define MOST_LEVELS 32

static struct lttng_event_expr *new_expression(enum lttng_event_expr_type type,
					       const char *provider, const char *name)
{
	struct lttng_event_expr *const expression = calloc(1, sizeof(*expression));

	if (!expression)
		return NULL;
	expression->type = type;
	if (control_replace(&expression->provider, provider) &&
	    control_replace(&expression->name, name))
		return expression;
	lttng_event_expr_destroy(expression);
	return NULL;
}

enum lttng_event_expr_type lttng_event_expr_get_type(const struct lttng_event_expr *expr)
{
	return expr ? expr->type : LTTNG_EVENT_EXPR_TYPE_INVALID;
}

struct lttng_event_expr *lttng_event_expr_event_payload_field_create(const char *field_name)
{
	return field_name
		? new_expression(LTTNG_EVENT_EXPR_TYPE_EVENT_PAYLOAD_FIELD, NULL, field_name)
		: NULL;
}

struct lttng_event_expr *lttng_event_expr_channel_context_field_create(const char *field_name)
{
	return field_name
		? new_expression(LTTNG_EVENT_EXPR_TYPE_CHANNEL_CONTEXT_FIELD, NULL, field_name)
		: NULL;
}

struct lttng_event_expr *
lttng_event_expr_app_specific_context_field_create(const char *provider_name,
						   const char *type_name)
{
	if (!provider_name || !type_name)
		return NULL;
	return new_expression(LTTNG_EVENT_EXPR_TYPE_APP_SPECIFIC_CONTEXT_FIELD, provider_name,
			      type_name);
}

struct lttng_event_expr *
lttng_event_expr_array_field_element_create(struct lttng_event_expr *array_field_expr,
					    unsigned int index)
{
	struct lttng_event_expr *expression;
	unsigned int level = 0;

	for (const struct lttng_event_expr *one = array_field_expr; one; one = one->parent)
		level++;
	if (level == 0 || level > MOST_LEVELS)
		return NULL;
	expression = new_expression(LTTNG_EVENT_EXPR_TYPE_ARRAY_FIELD_ELEMENT, NULL, NULL);
	if (!expression)
		return NULL;
	expression->parent = array_field_expr;
	expression->index = index;
	return expression;
}

/* Return the name in an expression of a type, else NULL. */
static const char *name_in(const struct lttng_event_expr *expression,
			   enum lttng_event_expr_type type)
{
	return expression && expression->type == type ? expression->name : NULL;
}

const char *lttng_event_expr_event_payload_field_get_name(const struct lttng_event_expr *expr)
{
	return name_in(expr, LTTNG_EVENT_EXPR_TYPE_EVENT_PAYLOAD_FIELD);
}

const char *lttng_event_expr_channel_context_field_get_name(const struct lttng_event_expr *expr)
{
	return name_in(expr, LTTNG_EVENT_EXPR_TYPE_CHANNEL_CONTEXT_FIELD);
}

const char *
lttng_event_expr_app_specific_context_field_get_provider_name(const struct lttng_event_expr *expr)
{
	return name_in(expr, LTTNG_EVENT_EXPR_TYPE_APP_SPECIFIC_CONTEXT_FIELD) ? expr->provider
									       : NULL;
}

const char *
lttng_event_expr_app_specific_context_field_get_type_name(const struct lttng_event_expr *expr)
{
	return name_in(expr, LTTNG_EVENT_EXPR_TYPE_APP_SPECIFIC_CONTEXT_FIELD);
}

const struct lttng_event_expr *
lttng_event_expr_array_field_element_get_parent_expr(const struct lttng_event_expr *expr)
{
	return expr ? expr->parent : NULL;
}

enum lttng_event_expr_status
lttng_event_expr_array_field_element_get_index(const struct lttng_event_expr *expr,
					       unsigned int *index)
{
	if (!expr || !index || expr->type != LTTNG_EVENT_EXPR_TYPE_ARRAY_FIELD_ELEMENT)
		return LTTNG_EVENT_EXPR_STATUS_INVALID;
	*index = expr->index;
	return LTTNG_EVENT_EXPR_STATUS_OK;
}

bool lttng_event_expr_is_equal(const struct lttng_event_expr *expr_a,
			       const struct lttng_event_expr *expr_b)
{
	while (expr_a && expr_b) {
		if (expr_a->type != expr_b->type || expr_a->index != expr_b->index ||
		    !control_same_text(expr_a->name, expr_b->name) ||
		    !control_same_text(expr_a->provider, expr_b->provider))
			return false;
		expr_a = expr_a->parent;
		expr_b = expr_b->parent;
	}
	return expr_a == expr_b;
}

void lttng_event_expr_destroy(struct lttng_event_expr *expr)
{
	while (expr) {
		struct lttng_event_expr *const parent = expr->parent;

		free(expr->provider);
		free(expr->name);
		free(expr);
		expr = parent;
	}
}

void control_write_expression(struct request *request, const char *name,
			      const struct lttng_event_expr *expression)
{
	static const char *const types[] = {
		[LTTNG_EVENT_EXPR_TYPE_EVENT_PAYLOAD_FIELD] = "payload-field",
		[LTTNG_EVENT_EXPR_TYPE_CHANNEL_CONTEXT_FIELD] = "channel-context",
		[LTTNG_EVENT_EXPR_TYPE_APP_SPECIFIC_CONTEXT_FIELD] = "app-context",
		[LTTNG_EVENT_EXPR_TYPE_ARRAY_FIELD_ELEMENT] = "element",
	};

	control_begin_object(request, name);
	control_write_text(request, "type", types[expression->type]);
	if (expression->provider)
		control_write_text(request, "provider", expression->provider);
	if (expression->name)
		control_write_text(request, "name", expression->name);
	if (expression->parent) {
		control_write_whole(request, "index", expression->index);
		control_write_expression(request, "of", expression->parent);
	}
	control_end_object(request);
}

struct lttng_event_expr *control_read_expression(const struct json *found)
{
	const char *const type = control_text_member(found, "type");
	const char *const name = control_text_member(found, "name");
	struct lttng_event_expr *parent, *expression;

	if (!type)
		return NULL;
	if (strcmp(type, "payload-field") == 0)
		return lttng_event_expr_event_payload_field_create(name);
	if (strcmp(type, "channel-context") == 0)
		return lttng_event_expr_channel_context_field_create(name);
	if (strcmp(type, "app-context") == 0)
		return lttng_event_expr_app_specific_context_field_create(
			control_text_member(found, "provider"), name);
	if (strcmp(type, "element") != 0)
		return NULL;
	parent = control_read_expression(control_member(found, "of"));
	expression = lttng_event_expr_array_field_element_create(
		parent, (unsigned int) control_whole_member(found, "index"));
	if (!expression)
		lttng_event_expr_destroy(parent);
	return expression;
}
