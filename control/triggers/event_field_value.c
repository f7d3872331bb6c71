/*
 * Values that were captured.
 *
 * SPDX-License-Identifier: MIT
 */
#include "event_field_value.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct lttng_event_field_value {
	enum lttng_event_field_value_type type;
	union {
		uint64_t whole;
		int64_t integer;
		double real;
		char *text;
		struct {
			unsigned int count;
			/* NULL where one could not be captured. */
			struct lttng_event_field_value **elements;
		} array;
	};
};

static struct lttng_event_field_value *read_value(const struct json *found);

static bool fill_array(struct lttng_event_field_value *value, const struct json *list)
{
	if (!list || list->type != JSON_LIST)
		return false;
	value->array.elements =
		calloc(list->count ? list->count : 1, sizeof(struct lttng_event_field_value *));
	if (!value->array.elements)
		return false;
	for (CONTROL_EACH(one, list)) {
		struct lttng_event_field_value *element = NULL;

		if (one->type != JSON_NULL) {
			element = read_value(one);
			if (!element)
				return false;
		}
		value->array.elements[value->array.count++] = element;
	}
	return true;
}

/* Read a number with a point, which is a text where JSON has none for it. */
static bool fill_real(struct lttng_event_field_value *value, const struct json *found)
{
	const char *const text = control_text_member(found, "value");

	if (!text)
		value->real = control_real_member(found, "value");
	else if (strcmp(text, "nan") == 0)
		value->real = (double) NAN;
	else if (strcmp(text, "inf") == 0)
		value->real = (double) INFINITY;
	else if (strcmp(text, "-inf") == 0)
		value->real = -(double) INFINITY;
	else
		return false;
	return true;
}

static bool fill(struct lttng_event_field_value *value, const struct json *found)
{
	const char *text;

	switch (value->type) {
	case LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_INT:
	case LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_ENUM:
		value->whole = control_whole_member(found, "value");
		return true;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_INT:
	case LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_ENUM:
		value->integer = control_integer_member(found, "value", 0);
		return true;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_REAL:
		return fill_real(value, found);
	case LTTNG_EVENT_FIELD_VALUE_TYPE_STRING:
		text = control_text_member(found, "value");
		value->text = text ? strdup(text) : NULL;
		return value->text != NULL;
	case LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY:
		return fill_array(value, control_member(found, "value"));
	default:
		return false;
	}
}

static enum lttng_event_field_value_type type_of(const char *name)
{
	static const char *const names[] = {
		[LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_INT] = "unsigned",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_INT] = "signed",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_ENUM] = "unsigned-enum",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_ENUM] = "signed-enum",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_REAL] = "real",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_STRING] = "string",
		[LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY] = "array",
	};

	for (unsigned int i = 0; name && i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(name, names[i]) == 0)
			return (enum lttng_event_field_value_type) i;
	}
	return LTTNG_EVENT_FIELD_VALUE_TYPE_UNKNOWN;
}

static struct lttng_event_field_value *read_value(const struct json *found)
{
	struct lttng_event_field_value *const value = calloc(1, sizeof(*value));

	if (!value)
		return NULL;
	value->type = type_of(control_text_member(found, "type"));
	if (fill(value, found))
		return value;
	control_free_value(value);
	return NULL;
}

struct lttng_event_field_value *control_read_values(const struct json *list)
{
	struct lttng_event_field_value *const value = calloc(1, sizeof(*value));

	if (!value)
		return NULL;
	value->type = LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY;
	if (fill_array(value, list))
		return value;
	control_free_value(value);
	return NULL;
}

void control_free_value(struct lttng_event_field_value *value)
{
	if (!value)
		return;
	if (value->type == LTTNG_EVENT_FIELD_VALUE_TYPE_STRING)
		free(value->text);
	if (value->type == LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY) {
		for (unsigned int i = 0; i < value->array.count; i++)
			control_free_value(value->array.elements[i]);
		free(value->array.elements);
	}
	free(value);
}

enum lttng_event_field_value_type
lttng_event_field_value_get_type(const struct lttng_event_field_value *field_val)
{
	return field_val ? field_val->type : LTTNG_EVENT_FIELD_VALUE_TYPE_INVALID;
}

enum lttng_event_field_value_status
lttng_event_field_value_unsigned_int_get_value(const struct lttng_event_field_value *field_val,
					       uint64_t *val)
{
	if (!field_val || !val ||
	    (field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_INT &&
	     field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_UNSIGNED_ENUM))
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*val = field_val->whole;
	return LTTNG_EVENT_FIELD_VALUE_STATUS_OK;
}

enum lttng_event_field_value_status
lttng_event_field_value_signed_int_get_value(const struct lttng_event_field_value *field_val,
					     int64_t *val)
{
	if (!field_val || !val ||
	    (field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_INT &&
	     field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_SIGNED_ENUM))
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*val = field_val->integer;
	return LTTNG_EVENT_FIELD_VALUE_STATUS_OK;
}

enum lttng_event_field_value_status
lttng_event_field_value_real_get_value(const struct lttng_event_field_value *field_val,
				       double *val)
{
	if (!field_val || !val || field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_REAL)
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*val = field_val->real;
	return LTTNG_EVENT_FIELD_VALUE_STATUS_OK;
}

enum lttng_event_field_value_status
lttng_event_field_value_string_get_value(const struct lttng_event_field_value *field_val,
					 const char **value)
{
	if (!field_val || !value || field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_STRING)
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*value = field_val->text;
	return LTTNG_EVENT_FIELD_VALUE_STATUS_OK;
}

enum lttng_event_field_value_status
lttng_event_field_value_array_get_length(const struct lttng_event_field_value *field_val,
					 unsigned int *length)
{
	if (!field_val || !length || field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY)
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*length = field_val->array.count;
	return LTTNG_EVENT_FIELD_VALUE_STATUS_OK;
}

enum lttng_event_field_value_status lttng_event_field_value_array_get_element_at_index(
	const struct lttng_event_field_value *field_val, unsigned int index,
	const struct lttng_event_field_value **elem_field_val)
{
	if (!field_val || !elem_field_val ||
	    field_val->type != LTTNG_EVENT_FIELD_VALUE_TYPE_ARRAY ||
	    index >= field_val->array.count)
		return LTTNG_EVENT_FIELD_VALUE_STATUS_INVALID;
	*elem_field_val = field_val->array.elements[index];
	return *elem_field_val ? LTTNG_EVENT_FIELD_VALUE_STATUS_OK
			       : LTTNG_EVENT_FIELD_VALUE_STATUS_UNAVAILABLE;
}
