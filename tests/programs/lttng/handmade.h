/*
 * What LTTng-UST's headers make of provider headers, by hand: fields, events, the probe of all of
 * them, and tracepoints. It needs none of LTTng's files.
 */
#ifndef HANDMADE_H
#define HANDMADE_H

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define SIGNATURE "int, number, const char *, text"

void *lttng_ust_probe_register(const struct ust_provider *provider);
void lttng_ust_probe_unregister(void *registered);

static void (*enter)(void);
static void (*leave)(void);

/* --- fields --- */

static const struct ust_integer an_int = {{UST_INTEGER, sizeof(an_int)}, 32, 8, 1, 0, 10};
static const struct ust_type a_string = {UST_STRING, 12};

#define FIELD(name, type) (&(const struct ust_field) {sizeof(struct ust_field), name, type, 0, 0})
#define LENGTH(name, type) (&(const struct ust_field) {sizeof(struct ust_field), name, type, 0, 1})
#define FIELDS(...) (const struct ust_field *const[]) {__VA_ARGS__}
#define NUMBER FIELD("number", &an_int.type)
#define TEXT FIELD("text", &a_string)

/* --- the probe: of all events alike --- */

/* Headers make a probe for each class, which knows it. */
static __thread const struct ust_class *class_of_call;
/* Of a package, whose callers know nothing of it. */
static const struct ust_class *class_of_probes;

static inline int is_number(int kind)
{
	return kind == UST_INTEGER || kind == UST_ENUM;
}

static inline void probe(struct ust_common *common, int number, const char *text)
{
	const struct ust_recorder *recorder = common->child;
	const struct ust_operations *operations = recorder->channel->operations;
	const struct ust_class *class = class_of_probes ? class_of_probes : class_of_call;
	struct ust_place place = {sizeof(place), __builtin_return_address(0)};
	struct ust_context context = {.struct_size = sizeof(context)};
	const size_t length = strlen(text);
	/* What of it has room in its type, as in headers. */
	const unsigned short told = (unsigned short) length;
	char stack[64];

	if (!recorder->channel->common->session->is_active ||
	    !recorder->channel->common->is_enabled || !common->is_enabled)
		return;
	if (common->is_filtered) {
		const long whole = number;

		memcpy(stack, &whole, sizeof(whole));
		memcpy(stack + sizeof(whole), &text, sizeof(text));
		if (common->filter(common, stack, &place, NULL) != UST_ACCEPTED)
			return;
	}
	context.client = (void *) (unsigned long) recorder;
	context.place = &place;
	for (size_t index = 0; index < class->field_count; index++) {
		const int kind = class->fields[index]->type->kind;

		context.size += class->fields[index]->is_not_filtered ? 2
			: is_number(kind)			      ? 4
			: kind == UST_FIXED_BLOB		      ? 2
						 : length + (kind == UST_STRING);
	}
	if (operations->reserve(&context) < 0)
		return;
	for (size_t index = 0; index < class->field_count; index++) {
		const struct ust_field *field = class->fields[index];

		if (field->is_not_filtered)
			operations->write(&context, &told, sizeof(told), 1);
		else if (is_number(field->type->kind))
			operations->write(&context, &number, sizeof(number), 1);
		else if (field->type->kind == UST_STRING)
			operations->write_string(&context, text, length + 1u);
		else
			operations->write(&context, text,
					  field->type->kind == UST_FIXED_BLOB ? 2 : length, 1);
	}
	operations->commit(&context);
}

#define CLASS(...)									\
	(&(const struct ust_class) {sizeof(struct ust_class), FIELDS(__VA_ARGS__),	\
				    COUNT((FIELDS(__VA_ARGS__))), (void (*)(void)) probe,	\
				    SIGNATURE, NULL})
#define EVENT(name, event_class) LEVEL_EVENT(name, event_class, NULL, NULL)
/* OWNER is the provider. */
#define LEVEL_EVENT(name, event_class, level, uri)					\
	(&(const struct ust_event) {sizeof(struct ust_event), name, OWNER, event_class, level, uri})
#define PROVIDER(name, events, major) \
	{sizeof(struct ust_provider), name, events, COUNT(events), major, 0}

/* --- tracepoints --- */

static inline void find_library(int (**add)(struct ust_point *const *, int),
				int (**take)(struct ust_point *const *))
{
	void *library = dlopen("liblttng-ust-tracepoint.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (!library)
		exit(2);
	*(void **) add = dlsym(library, "lttng_ust_tracepoint_module_register");
	*(void **) take = dlsym(library, "lttng_ust_tracepoint_module_unregister");
	*(void **) &enter = dlsym(library, "lttng_ust_tp_rcu_read_lock");
	*(void **) &leave = dlsym(library, "lttng_ust_tp_rcu_read_unlock");
}

static inline void pass(const struct ust_point *point, const struct ust_class *class, int number,
			const char *text)
{
	if (!*(volatile const int *) &point->state)
		return;
	class_of_call = class;
	enter();
	for (const struct ust_probe *one = *(struct ust_probe *volatile const *) &point->probes;
	     one && one->function; one++)
		((void (*)(void *, int, const char *)) one->function)(one->data, number, text);
	leave();
}

#endif
