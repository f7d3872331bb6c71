/*
 * A clock plugin of LTTng-UST: thousandths of a second since 1971, with or without a description.
 * Built with -DSILENT it sets no clock, with -DODD its name is none, with -DSLOW it never answers.
 */
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int lttng_ust_trace_clock_set_read64_cb(uint64_t (*)(void));
int lttng_ust_trace_clock_set_freq_cb(uint64_t (*)(void));
int lttng_ust_trace_clock_set_uuid_cb(int (*)(char *));
int lttng_ust_trace_clock_set_name_cb(const char *(*)(void));
int lttng_ust_trace_clock_set_description_cb(const char *(*)(void));
int lttng_ust_enable_trace_clock_override(void);
void lttng_ust_clock_plugin_init(void);

enum { RATE = 1000, YEAR = 365 * 24 * 3600 };

static uint64_t ticks(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)(now.tv_sec - YEAR) * RATE + (uint64_t)now.tv_nsec / (1000000000 / RATE);
}

static uint64_t rate(void)
{
	return RATE;
}

static int fill(char *uuid)
{
	memcpy(uuid, "0f4b5d1e-5b1c-4f0a-9f7e-1d2c3b4a5968", 37);
	return 0;
}

static const char *name(void)
{
#ifdef ODD
	return "two words";
#else
	return "coarse";
#endif
}

static const char *description(void)
{
	return "It says \"thousandths\"";
}

void lttng_ust_clock_plugin_init(void)
{
#ifdef SLOW
	for (;;)
		pause();
#endif
#ifndef SILENT
	lttng_ust_trace_clock_set_read64_cb(ticks);
	lttng_ust_trace_clock_set_freq_cb(rate);
	lttng_ust_trace_clock_set_uuid_cb(fill);
	lttng_ust_trace_clock_set_name_cb(name);
	lttng_ust_trace_clock_set_description_cb(description);
	lttng_ust_enable_trace_clock_override();
#endif
}
