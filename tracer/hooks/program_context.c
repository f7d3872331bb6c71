/* Tells contexts that programs have added as those of an application. */
#include "program_context.h"

#include <stdio.h>
#include <string.h>

#include "../stream/application.h"

#define MOST_CONTEXTS 64u

struct added {
	struct application_source source;
	char name[LONGEST_APPLICATION_NAME + 1];
};

static struct added added[MOST_CONTEXTS];
static unsigned int added_count;

static bool is_sound(const struct vestige_context *context)
{
	return context->struct_size >= sizeof(*context) && context->name && context->get &&
		memchr(context->name, '\0',
		       LONGEST_APPLICATION_NAME - strlen(APPLICATION_PREFIX) + 1) &&
		strchr(context->name, ':') &&
		(context->kind == VESTIGE_INTEGER || context->kind == VESTIGE_FLOAT ||
		 context->kind == VESTIGE_STRING || context->kind == VESTIGE_ANY);
}

static void ask(const void *data, const char *name, struct application_value *to)
{
	const struct vestige_context *context = data;
	struct vestige_value value = {.length = VESTIGE_UNUSED};

	(void) name;
	context->get(context->data, &value);
	switch (context->kind == VESTIGE_ANY ? value.length : context->kind) {
	case VESTIGE_INTEGER:
		to->type = APPLICATION_INT64;
		to->as.integer = value.as.integer;
		break;
	case VESTIGE_FLOAT:
		to->type = APPLICATION_DOUBLE;
		to->as.real = value.as.real;
		break;
	case VESTIGE_STRING:
		to->type = APPLICATION_STRING;
		to->as.text = value.as.bytes;
		break;
	default:
		break;
	}
}

bool program_context_add(const struct vestige_context *context)
{
	struct added *one = &added[added_count];

	if (added_count == MOST_CONTEXTS || !is_sound(context))
		return false;
	snprintf(one->name, sizeof(one->name), APPLICATION_PREFIX "%s", context->name);
	one->source = (struct application_source) {one->name, ask, context};
	if (!application_add(&one->source))
		return false;
	added_count++;
	return true;
}
