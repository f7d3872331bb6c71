/*
 * A program as LTTng-UST's headers make it, with descriptions that headers do make, and that no
 * reader of traces takes as they are.
 */
#define _GNU_SOURCE
#include "handmade.h"

static const struct ust_integer a_byte = {{UST_INTEGER, sizeof(a_byte)}, 8, 8, 0, 0, 10};
static const struct ust_integer a_short = {{UST_INTEGER, sizeof(a_short)}, 16, 8, 0, 0, 10};
static const struct ust_sequence a_sequence = {
	{UST_SEQUENCE, sizeof(a_sequence)}, NULL, &a_byte.type, 0, 0};

#define LABEL(text, first, last) \
	(&(const struct ust_label) {sizeof(struct ust_label), {first, 1}, {last, 1}, text, 0})
#define ENUM(...)                                                                               \
	{{UST_ENUM, sizeof(struct ust_enum)},                                                   \
	 &(const struct ust_labels) {sizeof(struct ust_labels), "labels",                       \
				     (const struct ust_label *const[]) {__VA_ARGS__},           \
				     COUNT(((const struct ust_label *const[]) {__VA_ARGS__}))}, \
	 &an_int.type}

static const struct ust_enum backwards = ENUM(LABEL("fine", 1, 1), LABEL("backwards", 10, 5));
static const struct ust_enum latin = ENUM(LABEL("caf\xe9", 1, 1));

static const int below = -1;
static const int *below_place = &below;
static const char *uri = "http://example.com/\xff";

static const struct ust_provider odd;
#define OWNER &odd
static const struct ust_event *const events[] = {
	EVENT("twice", CLASS(NUMBER, NUMBER)),
	EVENT("length",
	      CLASS(FIELD("_text_length", &an_int.type), LENGTH("_text_length", &a_short.type),
		    FIELD("text", &a_sequence.type))),
	EVENT("backwards", CLASS(FIELD("number", &backwards.type))),
	EVENT("caf\xe9", CLASS(NUMBER)),
	LEVEL_EVENT("latin", CLASS(FIELD("label", &latin.type), TEXT), &below_place, &uri),
};
static const struct ust_provider odd = PROVIDER("odd", events, 3);

int main(void)
{
	int (*add)(struct ust_point *const *, int);
	int (*take)(struct ust_point *const *);
	struct ust_point points[COUNT(events)];
	struct ust_point *places[COUNT(events)];
	void *registered;

	find_library(&add, &take);
	for (size_t index = 0; index < COUNT(events); index++) {
		points[index] = (struct ust_point) {
			.struct_size = sizeof(points[index]),
			.provider = "odd",
			.name = events[index]->name,
			.signature = SIGNATURE,
		};
		places[index] = &points[index];
	}
	registered = lttng_ust_probe_register(&odd);
	add(places, COUNT(events));
	for (size_t index = 0; index < COUNT(events); index++)
		pass(&points[index], events[index]->event_class, 1, "one");
	take(places);
	lttng_ust_probe_unregister(registered);
	return 0;
}
