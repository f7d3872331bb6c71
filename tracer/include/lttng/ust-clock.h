/*
 * What plugins of LTTng-UST call that bring a clock of their own, see LTTNG_UST_CLOCK_PLUGIN in
 * lttng-ust(3): so that they compile. A recording has one clock for all programs; what such a
 * plugin offers is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_UST_CLOCK_H
#define VESTIGE_LTTNG_UST_CLOCK_H

#include <errno.h>
#include <stdint.h>

/* Of a UUID as text, with a zero behind it. */
#define LTTNG_UST_UUID_STR_LEN 37

#ifdef __cplusplus
extern "C" {
#endif

void lttng_ust_clock_plugin_init(void);

#define VESTIGE_REFUSED_CLOCK(what, type, parameters)					\
	static inline __attribute__((unused)) int lttng_ust_trace_clock_set_##what##_cb(	\
		type(*function) parameters)						\
	{										\
		(void) function;							\
		return -ENOSYS;								\
	}

VESTIGE_REFUSED_CLOCK(read64, uint64_t, (void))
VESTIGE_REFUSED_CLOCK(freq, uint64_t, (void))
VESTIGE_REFUSED_CLOCK(uuid, int, (char *))
VESTIGE_REFUSED_CLOCK(name, const char *, (void))
VESTIGE_REFUSED_CLOCK(description, const char *, (void))
#undef VESTIGE_REFUSED_CLOCK

static inline __attribute__((unused)) int lttng_ust_enable_trace_clock_override(void)
{
	return -ENOSYS;
}

#ifdef __cplusplus
}
#endif

#endif
