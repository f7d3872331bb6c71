/* Probes that a program brings by itself, with the interface that LTTng-UST has for other
 * tracers. The registry's lock protects them. */
#ifndef VESTIGE_LTTNG_OWN_PROBES_H
#define VESTIGE_LTTNG_OWN_PROBES_H

#include "../base/compiler.h"
#include "abi.h"

/* What a program asks for: a function that gets the arguments of a point, after its data. */
struct own_request {
	const char *provider;
	const char *event;
	struct ust_probe probe;
	/* Of arguments that the function takes; a point with others does not get it. */
	const char *signature;
};

/* 0, or -EINVAL, -EEXIST, -ENOMEM. */
int own_probes_add(const struct own_request *request) HIDDEN;
/* 0, or -EINVAL, -ENOENT; the signature does not matter. */
int own_probes_remove(const struct own_request *request) HIDDEN;
/* Number of probes of a point, which are copied while there is room for them. */
uint32_t own_probes_copy(const struct ust_point *point, struct ust_probe *to,
			 uint32_t room) HIDDEN;

#endif
