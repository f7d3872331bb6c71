/*
 * Values of inclusion sets: numbers, and names of users and groups.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tracker_values.h"

#include <stdlib.h>
#include <string.h>

#include "../protocol/text.h"

struct value {
	enum lttng_process_attr_value_type type;
	uint32_t number;
	char *name;
};

struct lttng_process_attr_values {
	unsigned int count;
	struct value values[];
};

/* Return the type that values of an attribute have if they are numbers. */
static enum lttng_process_attr_value_type number_type(enum lttng_process_attr attribute)
{
	switch (attribute) {
	case LTTNG_PROCESS_ATTR_PROCESS_ID:
	case LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID:
		return LTTNG_PROCESS_ATTR_VALUE_TYPE_PID;
	case LTTNG_PROCESS_ATTR_USER_ID:
	case LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID:
		return LTTNG_PROCESS_ATTR_VALUE_TYPE_UID;
	default:
		return LTTNG_PROCESS_ATTR_VALUE_TYPE_GID;
	}
}

/* Fill in a value; return false without memory. */
static bool fill(struct value *value, const char *text, enum lttng_process_attr attribute)
{
	char *end;

	value->type = number_type(attribute);
	value->number = (uint32_t) strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == '\0')
		return true;
	value->type = value->type == LTTNG_PROCESS_ATTR_VALUE_TYPE_UID
		? LTTNG_PROCESS_ATTR_VALUE_TYPE_USER_NAME
		: LTTNG_PROCESS_ATTR_VALUE_TYPE_GROUP_NAME;
	return control_replace(&value->name, text);
}

struct lttng_process_attr_values *control_copy_values(const struct json *values,
						      enum lttng_process_attr attribute)
{
	struct lttng_process_attr_values *const copy =
		calloc(1, sizeof(*copy) + control_count(values) * sizeof(copy->values[0]));

	if (!copy)
		return NULL;
	for (CONTROL_EACH(one, values)) {
		if (one->type != JSON_TEXT)
			continue;
		if (!fill(&copy->values[copy->count], one->text, attribute)) {
			control_free_values(copy);
			return NULL;
		}
		copy->count++;
	}
	return copy;
}

void control_free_values(struct lttng_process_attr_values *values)
{
	if (!values)
		return;
	for (unsigned int i = 0; i < values->count; i++)
		free(values->values[i].name);
	free(values);
}

enum lttng_process_attr_values_status
lttng_process_attr_values_get_count(const struct lttng_process_attr_values *values,
				    unsigned int *count)
{
	if (!values || !count)
		return LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID;
	*count = values->count;
	return LTTNG_PROCESS_ATTR_VALUES_STATUS_OK;
}

enum lttng_process_attr_value_type
lttng_process_attr_values_get_type_at_index(const struct lttng_process_attr_values *values,
					    unsigned int index)
{
	if (!values || index >= values->count)
		return LTTNG_PROCESS_ATTR_VALUE_TYPE_INVALID;
	return values->values[index].type;
}

/* Give the value of a number if it has the type. */
static enum lttng_process_attr_values_status
value_at(const struct lttng_process_attr_values *values, unsigned int index,
	 enum lttng_process_attr_value_type type, const void *result, const struct value **value)
{
	if (!values || !result || index >= values->count)
		return LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID;
	*value = &values->values[index];
	return (*value)->type == type ? LTTNG_PROCESS_ATTR_VALUES_STATUS_OK
				      : LTTNG_PROCESS_ATTR_VALUES_STATUS_INVALID_TYPE;
}

/* A function that gives what a value is, if it is of a type. */
#define VALUE_GETTER(what, kind, result_type, member, cast)                                    \
	enum lttng_process_attr_values_status lttng_process_attr_values_get_##what##_at_index( \
		const struct lttng_process_attr_values *values, unsigned int index,            \
		result_type *what)                                                             \
	{                                                                                      \
		const struct value *value;                                                     \
		const enum lttng_process_attr_values_status status = value_at(                 \
			values, index, LTTNG_PROCESS_ATTR_VALUE_TYPE_##kind, what, &value);    \
                                                                                               \
		if (status == LTTNG_PROCESS_ATTR_VALUES_STATUS_OK)                             \
			*what = cast value->member;                                            \
		return status;                                                                 \
	}

VALUE_GETTER(pid, PID, pid_t, number, (pid_t))
VALUE_GETTER(uid, UID, uid_t, number, (uid_t))
VALUE_GETTER(gid, GID, gid_t, number, (gid_t))
VALUE_GETTER(user_name, USER_NAME, const char *, name, )
VALUE_GETTER(group_name, GROUP_NAME, const char *, name, )
