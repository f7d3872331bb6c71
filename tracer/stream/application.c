/*
 * Contexts that the program has registered.
 *
 * They are asked at events, in any thread and in signal handlers. What the program calls then
 * may make events of its own, whose filters would ask again: those find nothing.
 *
 * Who asks counts itself in like who passes a probe of LTTng-UST, so that a source can be
 * unloaded; see passage.h.
 */
#include "application.h"

#include <lttng/tracepoint.h>
#include <string.h>
#include <vestige/write-fields.h>

#include "../base/system.h"
#include "context_list.h"
#include "local.h"
#include "state.h"

#define MOST_NAMES 64u
#define MOST_SOURCES 64u

struct name {
	char text[LONGEST_APPLICATION_NAME + 1];
	const struct application_source *source;
};

static struct name names[MOST_NAMES];
static unsigned int name_count;
static const struct application_source *sources[MOST_SOURCES];
/* Threads without a data stream that ask. */
static unsigned int strangers;
/* How often this one does, one in the other. */
static __thread unsigned int stranger_depth __attribute__((tls_model("initial-exec")));
/* Where the stack was when the thread asked; NULL: it does not ask. */
static __thread const char *asking __attribute__((tls_model("initial-exec")));

static const uint8_t sizes[] = {APPLICATION_SIZES};

_Static_assert(sizeof(sizes) == APPLICATION_TYPES, "each type has a size");

/* Whether a source has a context. */
static bool has(const struct application_source *source, const char *name)
{
	const size_t length = strlen(source->name);

	return !strncmp(source->name, name, length) && (!name[length] || name[length] == ':');
}

static const struct application_source *find_source(const char *name)
{
	for (unsigned int index = 0; index < MOST_SOURCES; index++)
		if (sources[index] && has(sources[index], name))
			return sources[index];
	return NULL;
}

int application_find(const char *text, size_t length)
{
	const size_t prefix = strlen(APPLICATION_PREFIX);
	struct name *name;

	if (length <= prefix || length > LONGEST_APPLICATION_NAME ||
	    memcmp(text, APPLICATION_PREFIX, prefix) != 0)
		return -1;
	for (unsigned int number = 0; number < name_count; number++)
		if (strlen(names[number].text) == length &&
		    !memcmp(names[number].text, text, length))
			return (int) number;
	if (name_count == MOST_NAMES)
		return -1;
	name = &names[name_count];
	memcpy(name->text, text, length);
	__atomic_store_n(&name->source, find_source(name->text), __ATOMIC_RELEASE);
	return (int) name_count++;
}

/* Of contexts whose source has come or gone. */
static void find_sources(void)
{
	for (unsigned int number = 0; number < name_count; number++)
		__atomic_store_n(&names[number].source, find_source(names[number].text),
				 __ATOMIC_RELEASE);
}

bool application_add(const struct application_source *source)
{
	unsigned int place = MOST_SOURCES;

	for (unsigned int index = 0; index < MOST_SOURCES; index++) {
		if (!sources[index])
			place = place == MOST_SOURCES ? index : place;
		else if (!strcmp(sources[index]->name, source->name))
			return false;
	}
	if (place == MOST_SOURCES)
		return false;
	sources[place] = source;
	find_sources();
	return true;
}

bool application_remove(const struct application_source *source)
{
	for (unsigned int index = 0; index < MOST_SOURCES; index++) {
		if (sources[index] != source)
			continue;
		sources[index] = NULL;
		find_sources();
		return true;
	}
	return false;
}

bool application_is_left(void)
{
	return !__atomic_load_n(&strangers, __ATOMIC_SEQ_CST);
}

static void ask(const struct name *name, struct application_value *value)
{
	const struct application_source *source =
		__atomic_load_n(&name->source, __ATOMIC_SEQ_CST);

	if (source)
		source->get(source->data, name->text, value);
	/* Programs say what it is. */
	if ((unsigned int) value->type >= APPLICATION_TYPES)
		value->type = APPLICATION_NONE;
	/* As LTTng writes it elsewhere, and its filters see it. */
	if (value->type == APPLICATION_STRING && !value->as.text)
		value->as.text = "(null)";
}

void application_enter(void)
{
	struct stream *stream = first_stream;

	/* Seen before sources are looked at. */
	if (LIKELY(stream && !stranger_depth)) {
		__atomic_store_n(&stream->nesting, stream->nesting + 1, __ATOMIC_SEQ_CST);
		return;
	}
	stranger_depth++;
	__atomic_add_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
}

void application_leave(void)
{
	struct stream *stream = first_stream;

	/* It may have got its data stream meanwhile. */
	if (LIKELY(stream && !stranger_depth)) {
		__atomic_store_n(&stream->nesting, stream->nesting - 1, __ATOMIC_RELEASE);
		return;
	}
	stranger_depth--;
	__atomic_sub_fetch(&strangers, 1, __ATOMIC_SEQ_CST);
}

/* Whether the thread asks, further up on the stack. A function of the program may have jumped away
 * from there; a handler with a stack of its own may be anywhere. */
static bool is_asking(const char *stack)
{
	return asking && (stack < asking || system_is_on_signal_stack());
}

bool application_ask(unsigned int number, struct application_value *value)
{
	const char *stack = stack_pointer();

	value->type = APPLICATION_NONE;
	if (is_asking(stack))
		return false;
	asking = stack;
	ask(&names[number], value);
	asking = NULL;
	return value->type != APPLICATION_NONE;
}

size_t application_ask_all(const struct context_list *list, struct application_values *values,
			   bool is_asked)
{
	size_t size = 0;

	for (unsigned int index = 0; index < list->application_count; index++) {
		struct application_value *value = &values->values[index];

		value->type = APPLICATION_NONE;
		if (is_asked && list->applications[index] != NO_NUMBER)
			application_ask(list->applications[index], value);
		size += 1u + sizes[value->type];
		if (value->type != APPLICATION_STRING)
			continue;
		values->lengths[index] = strlen(value->as.text);
		size += values->lengths[index] + 1;
	}
	return size;
}

static char *write_number(char *at, const struct application_value *value)
{
	const unsigned int size = sizes[value->type];
	/* The lowest bytes. */
	const unsigned int start = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
		? 0
		: (unsigned int) sizeof(int64_t) - size;

	memcpy(at, (const char *) &value->as.integer + start, size);
	return at + size;
}

void application_write(const struct context_list *list, char *at,
		       const struct application_values *values)
{
	for (unsigned int index = 0; index < list->application_count; index++) {
		const struct application_value *value = &values->values[index];
		const float real = (float) value->as.real;

		*at++ = (char) value->type;
		if (value->type == APPLICATION_STRING) {
			at = vestige_write_text(at, value->as.text, values->lengths[index]);
		} else if (value->type == APPLICATION_FLOAT) {
			memcpy(at, &real, sizeof(real));
			at += sizeof(real);
		} else {
			at = write_number(at, value);
		}
	}
}

char *application_skip(const struct context_list *list, char *at)
{
	for (unsigned int index = 0; index < list->application_count; index++) {
		const unsigned int type = (unsigned char) *at++;

		at += type == APPLICATION_STRING ? strlen(at) + 1 : sizes[type];
	}
	return at;
}
