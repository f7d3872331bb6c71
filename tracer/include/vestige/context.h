/*
 * Contexts of applications: `$app.PROVIDER:TYPE` in filters and records of `vestige record`.
 *
 *     static void get_user(void *data, struct vestige_value *value)
 *     {
 *         value->as.bytes = current_user;
 *     }
 *     static const struct vestige_context user = {
 *         sizeof(user), VESTIGE_STRING, "shop:user", get_user, NULL,
 *     };
 *     vestige_add_context(&user);
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTEXT_H
#define VESTIGE_CONTEXT_H

#include <lttng/tracepoint.h>

VESTIGE_BEGIN_C

/* Add a context, for as long as the program runs; false where it is not recorded, or there is
 * one of the name already. */
static inline __attribute__((unused)) VESTIGE_NOT_TRACED bool
vestige_add_context(const struct vestige_context *context)
{
	const struct vestige_tracer *tracer = vestige_find_tracer();

	return tracer && tracer->add_context(context);
}

VESTIGE_END_C

#endif
