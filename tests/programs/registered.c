/* Registers contexts, some of them late, and says what it does with tracepoints and functions.
 * Arguments are lengths of a value that it then says each of. */
#include <stdlib.h>
#include <string.h>
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "registered_tp.h"

#include <vestige/context.h>

static int number;
static const char *const users[] = {"ada", "bob", NULL};

static void step(int value)
{
	number = value;
	lttng_ust_tracepoint(registered, step, value);
}

/* Instrumented, as the functions that it asks for may be. */
static void get_user(void *data, struct vestige_value *value)
{
	(void) data;
	value->as.bytes = users[number % 3];
}

static void get_number(void *data, struct vestige_value *value)
{
	value->as.integer = *(const int *) data;
}

static void get_half(void *data, struct vestige_value *value)
{
	value->as.real = *(const int *) data / 2.0;
}

static void get_long(void *data, struct vestige_value *value)
{
	value->length = VESTIGE_STRING;
	value->as.bytes = *(char **) data;
}

/* Values of some lengths. */
static int say_long(int count, char **arguments)
{
	static char *text;
	static const struct vestige_context context = {
		sizeof(context), VESTIGE_ANY, "shop:long", get_long, &text,
	};

	if (count > 1 && !vestige_add_context(&context))
		return 0;
	for (int index = 1; index < count; index++) {
		const size_t length = strtoul(arguments[index], NULL, 10);

		text = calloc(1, length + 1);
		memset(text, 'x', length);
		step(100 + index);
		free(text);
	}
	return count > 1;
}

int main(int count, char **arguments)
{
	static const struct vestige_context contexts[] = {
		{sizeof(contexts[0]), VESTIGE_STRING, "shop:user", get_user, NULL},
		{sizeof(contexts[0]), VESTIGE_INTEGER, "shop:number", get_number, &number},
		{sizeof(contexts[0]), VESTIGE_FLOAT, "shop:half", get_half, &number},
	};
	static const struct vestige_context wrong[] = {
		{sizeof(wrong[0]), VESTIGE_INTEGER, "shop:user", get_number, &number},
		{sizeof(wrong[0]), VESTIGE_ARRAY, "shop:array", get_number, &number},
		{sizeof(wrong[0]), VESTIGE_INTEGER, "noprovider", get_number, &number},
		{sizeof(wrong[0]), VESTIGE_INTEGER, "shop:none", NULL, NULL},
	};
	int is_wrong = 0;

	if (say_long(count, arguments))
		return 7;
	step(-1);
	for (int index = 0; index < 3; index++)
		is_wrong |= !vestige_add_context(&contexts[index]) << index;
	for (int index = 0; index < 4; index++)
		is_wrong |= vestige_add_context(&wrong[index]) << (3 + index);
	for (int value = 0; value < 12; value++)
		step(value);
	return is_wrong;
}
