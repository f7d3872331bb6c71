/*
 * Contexts that the program has registered.
 *
 * They are asked at events, in any thread and in signal handlers. What the program calls then
 * may make events of its own, whose filters would ask again: those find nothing.
 */
#include "application.h"

#include <string.h>

#define MOST_CONTEXTS 64u
#define PREFIX "$app."
#define LONGEST_NAME 255u

static const struct vestige_context *contexts[MOST_CONTEXTS];
static unsigned int context_count;
static __thread bool is_asking __attribute__((tls_model("initial-exec")));

static bool is_sound(const struct vestige_context *context)
{
	return context->struct_size >= sizeof(*context) && context->name && context->get &&
		memchr(context->name, '\0', LONGEST_NAME + 1) && strchr(context->name, ':') &&
		(context->kind == VESTIGE_INTEGER || context->kind == VESTIGE_FLOAT ||
		 context->kind == VESTIGE_STRING);
}

static int find(const char *name, size_t length)
{
	const unsigned int count = __atomic_load_n(&context_count, __ATOMIC_ACQUIRE);

	for (unsigned int number = 0; number < count; number++)
		if (strlen(contexts[number]->name) == length &&
		    !memcmp(contexts[number]->name, name, length))
			return (int) number;
	return -1;
}

bool application_add(const struct vestige_context *context)
{
	if (context_count == MOST_CONTEXTS || !is_sound(context) ||
	    find(context->name, strlen(context->name)) >= 0)
		return false;
	contexts[context_count] = context;
	__atomic_store_n(&context_count, context_count + 1, __ATOMIC_RELEASE);
	return true;
}

int application_find(const char *name, size_t length)
{
	const size_t prefix = strlen(PREFIX);

	if (length <= prefix || memcmp(name, PREFIX, prefix) != 0)
		return -1;
	return find(name + prefix, length - prefix);
}

enum vestige_field_kind application_kind(unsigned int number)
{
	return (enum vestige_field_kind) contexts[number]->kind;
}

bool application_ask(unsigned int number, struct vestige_value *value)
{
	const struct vestige_context *context = contexts[number];

	if (is_asking)
		return false;
	is_asking = true;
	memset(value, 0, sizeof(*value));
	context->get(context->data, value);
	is_asking = false;
	return true;
}
