/* Providers of LTTng-UST, as the tracer's own. The registry's lock protects them. */
#ifndef VESTIGE_LTTNG_PROVIDERS_H
#define VESTIGE_LTTNG_PROVIDERS_H

#include "../base/compiler.h"
#include "pool.h"
#include "recorded.h"

struct ust_registered {
	struct ust_registered *next;
	/* Where all of this is. */
	struct pool pool;
	const struct ust_provider *from;
	struct vestige_provider own;
	struct ust_recorded *events;
	/* Finds events by their names: numbers that begin with 1, and a power of two of them. */
	uint32_t *slots;
	uint32_t slot_mask;
};

/* Describe a provider; NULL when it was refused, which the recorder was told. */
struct ust_registered *providers_describe(const struct ust_provider *from) HIDDEN;
void providers_forget(struct ust_registered *provider) HIDDEN;
/* Find the event of a name, if it is recorded. */
struct ust_recorded *providers_find(struct ust_registered *provider, const char *name) HIDDEN;
/* Whether the rules take an event; it has its ID then. */
bool providers_choose(struct ust_registered *provider, struct ust_recorded *event) HIDDEN;

#endif
