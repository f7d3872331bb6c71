/* The context provider of LTTng-UST, which its installed headers do not have, as programs use it. */
#ifndef PROVIDED_H
#define PROVIDED_H

#include <lttng/ust-events.h>
#include <stdint.h>
#include <string.h>

enum value_type {
	TYPE_NONE,
	TYPE_S8,
	TYPE_S16,
	TYPE_S32,
	TYPE_S64,
	TYPE_U8,
	TYPE_U16,
	TYPE_U32,
	TYPE_U64,
	TYPE_FLOAT,
	TYPE_DOUBLE,
	TYPE_STRING,
	TYPES,
};

struct value {
	int type;
	union {
		int64_t integer;
		double real;
		const char *text;
	} as;
};

struct asked_for {
	uint32_t struct_size;
	struct lttng_ust_event_field *field;
	char *name;
};

struct context_provider {
	uint32_t struct_size;
	const char *name;
	size_t (*get_size)(void *asked_for, struct lttng_ust_probe_ctx *place, size_t offset);
	void (*record)(void *asked_for, struct lttng_ust_probe_ctx *place,
		       struct lttng_ust_ring_buffer_ctx *ring, struct lttng_ust_channel_buffer *to);
	void (*get_value)(void *asked_for, struct lttng_ust_probe_ctx *place, struct value *value);
	void *data;
};

void *lttng_ust_context_provider_register(struct context_provider *provider);
void lttng_ust_context_provider_unregister(void *registered);

static const unsigned int value_sizes[TYPES] = {0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0};

static inline size_t size_of(const struct value *value)
{
	return 1 + (value->type == TYPE_STRING ? strlen(value->as.text) + 1
					       : value_sizes[value->type]);
}

static inline void write_value(const struct value *value, struct lttng_ust_ring_buffer_ctx *ring,
			       struct lttng_ust_channel_buffer *to)
{
	const char type = (char) value->type;
	const float real = (float) value->as.real;

	to->ops->event_write(ring, &type, 1, 1);
	if (value->type == TYPE_STRING)
		to->ops->event_strcpy(ring, value->as.text, strlen(value->as.text) + 1);
	else if (value->type)
		to->ops->event_write(
			ring, value->type == TYPE_FLOAT ? (const void *) &real : &value->as,
			value_sizes[value->type], 1);
}

#endif
