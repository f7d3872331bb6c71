/*
 * A program as LTTng-UST's headers make it, whose sequences have lengths of two bytes, and
 * sometimes more elements than these can tell.
 */
#define _GNU_SOURCE
#include "handmade.h"

#define MOST 65536

static const struct ust_integer a_byte = {{UST_INTEGER, sizeof(a_byte)}, 8, 8, 0, 0, 10};
static const struct ust_integer a_short = {{UST_INTEGER, sizeof(a_short)}, 16, 8, 0, 0, 10};
static const struct ust_sequence a_sequence = {
	{UST_SEQUENCE, sizeof(a_sequence)}, NULL, &a_byte.type, 0, 0};

#define SEQUENCE(name) LENGTH("_" name "_length", &a_short.type), FIELD(name, &a_sequence.type)
#define WHOLE(name) FIELD(name, &an_int.type)

static const struct ust_provider provider;
#define OWNER &provider
static const struct ust_event *const events[] = {
	EVENT("one", CLASS(NUMBER, SEQUENCE("list"), WHOLE("after"))),
	EVENT("two", CLASS(SEQUENCE("first"), WHOLE("between"), TEXT, SEQUENCE("second"),
			   WHOLE("after"))),
};
static const struct ust_provider provider = PROVIDER("short", events, 3);

int main(void)
{
	static char texts[][MOST + 8] = {"abc", "", "", "abcde"};
	int (*add)(struct ust_point *const *, int);
	int (*take)(struct ust_point *const *);
	struct ust_point points[COUNT(events)];
	struct ust_point *places[COUNT(events)];
	void *registered;

	for (int index = 0; index < MOST + 2; index++)
		texts[1][index] = texts[2][index] = (char) ('a' + index % 26);
	texts[2][MOST] = '\0';
	find_library(&add, &take);
	for (size_t index = 0; index < COUNT(events); index++) {
		points[index] = (struct ust_point) {
			.struct_size = sizeof(points[index]),
			.provider = provider.name,
			.name = events[index]->name,
			.signature = SIGNATURE,
		};
		places[index] = &points[index];
	}
	registered = lttng_ust_probe_register(&provider);
	add(places, COUNT(events));
	for (size_t number = 0; number < COUNT(texts); number++)
		for (size_t index = 0; index < COUNT(events); index++)
			pass(&points[index], events[index]->event_class, (int) number,
			     texts[number]);
	take(places);
	lttng_ust_probe_unregister(registered);
	return 0;
}
