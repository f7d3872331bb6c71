/*
 * What the tracer offers to the libraries that stand in for those of LTTng-UST, front/, which
 * have its symbols and little else. They find it as vestige_lttng among the tracer's.
 */
#ifndef VESTIGE_LTTNG_INTERFACE_H
#define VESTIGE_LTTNG_INTERFACE_H

#include <stdbool.h>

#include "abi.h"
#include "own_probes.h"

/* Told of each event that is recorded, with its name, probe, data and signature. */
typedef void ust_connect_function(const struct ust_provider *provider,
				  const struct ust_event *event, void *data);

struct vestige_lttng {
	/* Returns what remove_provider() takes; NULL when nothing of it is recorded. */
	void *(*add_provider)(const struct ust_provider *provider);
	void (*remove_provider)(void *added);
	void (*add_points)(struct ust_point *const *points, int count);
	void (*remove_points)(struct ust_point *const *points);
	/* Probes that the program brings: 0, or a negative error number. remove_probe() returns
	 * when no thread is in it. */
	int (*add_probe)(const struct own_request *request);
	int (*remove_probe)(const struct own_request *request);
	/* For points that are not ours: whoever has them gets the events. remove_beside() takes
	 * them back; what was made for them stays, since nobody says when they are done. */
	void *(*add_beside)(const struct ust_provider *provider, ust_connect_function *connect);
	void (*remove_beside)(void *added, ust_connect_function *disconnect);
	/* Where the thread counts the probes that it is in; it gets its data stream. NULL where it
	 * cannot record. */
	unsigned long *(*nesting)(void);
	/* Return when each thread has been out of probes. */
	bool (*wait)(void);
	/* The same for threads that are counted elsewhere. */
	void (*wait_also)(bool (*others)(void));
	/* Whether that makes other processors show what they have written, so that threads need
	 * not. */
	bool (*is_fenced)(void);
	/* Contexts of the program. Returns what remove_contexts() takes, which waits until nobody
	 * asks for them; NULL when they cannot be had. */
	void *(*add_contexts)(const struct ust_context_provider *provider);
	void (*remove_contexts)(void *added);
	/* Whether this process is recorded. */
	bool (*is_recording)(void);
	/* The thread has another name. */
	void (*read_name)(void);
};

extern const struct vestige_lttng vestige_lttng;

#endif
