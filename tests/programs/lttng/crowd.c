/* crowd COUNT: registers so many events of one provider, and passes each tracepoint once. */
#define _GNU_SOURCE
#include <stdio.h>

#include "handmade.h"

static struct ust_provider provider;

#define OWNER &provider

int main(int count, char **arguments)
{
	const int wanted = count > 1 ? atoi(arguments[1]) : 1;
	const struct ust_event **events = calloc((size_t) wanted, sizeof(*events));
	struct ust_point **points = calloc((size_t) wanted, sizeof(*points));
	const struct ust_class *event_class = CLASS(NUMBER);
	int (*add)(struct ust_point *const *, int);
	int (*take)(struct ust_point *const *);
	void *registered;

	find_library(&add, &take);
	for (int index = 0; index < wanted; index++) {
		struct ust_event *event = malloc(sizeof(*event));
		char name[16];

		snprintf(name, sizeof(name), "event%d", index);
		*event = *EVENT(strdup(name), event_class);
		events[index] = event;
		points[index] = calloc(1, sizeof(*points[index]));
		*points[index] = (struct ust_point) {
			.struct_size = sizeof(**points),
			.provider = "crowd",
			.name = event->name,
			.signature = SIGNATURE,
		};
	}
	provider = (struct ust_provider) {sizeof(provider), "crowd", events, (unsigned) wanted, 3, 0};
	add(points, wanted);
	registered = lttng_ust_probe_register(&provider);
	for (int index = 0; index < wanted; index++)
		pass(points[index], event_class, index, "");
	lttng_ust_probe_unregister(registered);
	take(points);
	return 0;
}
