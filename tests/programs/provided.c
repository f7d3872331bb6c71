/* Says numbers, with contexts that are another type each time, before, while and after they are
 * registered. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "provided_tp.h"

#include "provided.h"

static int number;

/* `kind` is each type in turn; `double` and `none` are one type. */
static struct value find(const void *asked_for)
{
	const struct asked_for *context = asked_for;
	struct value value = {.type = number % TYPES};

	if (!strcmp(context->name, "$app.shop:none"))
		value.type = TYPE_NONE;
	else if (!strcmp(context->name, "$app.shop:double"))
		value.type = TYPE_DOUBLE;
	if (value.type == TYPE_STRING)
		value.as.text = number > TYPES ? "bob \"x\"\n" : "";
	else if (value.type == TYPE_FLOAT || value.type == TYPE_DOUBLE)
		value.as.real = number + 0.5;
	else
		value.as.integer = value.type < TYPE_U8 ? -number : number;
	return value;
}

static size_t get_size(void *asked_for, struct lttng_ust_probe_ctx *place, size_t offset)
{
	const struct value value = find(asked_for);

	(void) place;
	(void) offset;
	return size_of(&value);
}

static void record(void *asked_for, struct lttng_ust_probe_ctx *place,
		   struct lttng_ust_ring_buffer_ctx *ring, struct lttng_ust_channel_buffer *to)
{
	const struct value value = find(asked_for);

	(void) place;
	write_value(&value, ring, to);
}

static void get_value(void *asked_for, struct lttng_ust_probe_ctx *place, struct value *value)
{
	(void) place;
	*value = find(asked_for);
}

static void say(int from, int to)
{
	for (number = from; number < to; number++)
		lttng_ust_tracepoint(provided, step, number);
}

int main(void)
{
	static struct context_provider shop = {
		sizeof(shop), "$app.shop", get_size, record, get_value, NULL,
	};
	static struct context_provider wrong = {
		sizeof(wrong), "shop", get_size, record, get_value, NULL,
	};
	void *registered;
	int is_wrong;

	say(100, 102);
	registered = lttng_ust_context_provider_register(&shop);
	/* Nobody has two of a name, or one of another form. */
	is_wrong = lttng_ust_context_provider_register(&shop) ||
		lttng_ust_context_provider_register(&wrong);
	say(0, 2 * TYPES);
	lttng_ust_context_provider_unregister(registered);
	say(200, 202);
	registered = lttng_ust_context_provider_register(&shop);
	say(28, 30);
	return is_wrong || !registered;
}
