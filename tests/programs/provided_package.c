/* A package with a context provider, for provided_often.c. */
#include "provided.h"

static struct value find(void)
{
	return (struct value) {.type = TYPE_STRING, .as.text = "in the package"};
}

static size_t get_size(void *asked_for, struct lttng_ust_probe_ctx *place, size_t offset)
{
	const struct value value = find();

	(void) asked_for;
	(void) place;
	(void) offset;
	return size_of(&value);
}

static void record(void *asked_for, struct lttng_ust_probe_ctx *place,
		   struct lttng_ust_ring_buffer_ctx *ring, struct lttng_ust_channel_buffer *to)
{
	const struct value value = find();

	(void) asked_for;
	(void) place;
	write_value(&value, ring, to);
}

static void get_value(void *asked_for, struct lttng_ust_probe_ctx *place, struct value *value)
{
	(void) asked_for;
	(void) place;
	*value = find();
}

static struct context_provider provider = {
	sizeof(provider), "$app.shop", get_size, record, get_value, NULL,
};
static void *registered;

static __attribute__((constructor)) void start(void)
{
	registered = lttng_ust_context_provider_register(&provider);
}

static __attribute__((destructor)) void stop(void)
{
	lttng_ust_context_provider_unregister(registered);
}
