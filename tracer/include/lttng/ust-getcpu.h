/*
 * What plugins of LTTng-UST call that say by themselves on which processor a thread runs, see
 * LTTNG_UST_GETCPU_PLUGIN in lttng-ust(3): so that they compile. Each thread of a recording has
 * its own buffer, so the number is asked for the context alone; a plugin is refused.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_UST_GETCPU_H
#define VESTIGE_LTTNG_UST_GETCPU_H

#include <errno.h>

#ifdef __cplusplus
extern "C" {
#endif

void lttng_ust_getcpu_plugin_init(void);

static inline __attribute__((unused)) int lttng_ust_getcpu_override(int (*function)(void))
{
	(void) function;
	return -ENOSYS;
}

#ifdef __cplusplus
}
#endif

#endif
