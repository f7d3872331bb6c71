/*
 * Channels: sets of ring buffers with event rules.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_LTTNG_CHANNEL_H
#define VESTIGE_LTTNG_CHANNEL_H

#include <stdint.h>
#include <lttng/domain.h>
#include <lttng/event.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Sizes in bytes, times in microseconds. An overwrite of -1 is what suits the session. */
struct lttng_channel_attr {
	int overwrite;
	uint64_t subbuf_size;
	uint64_t num_subbuf;
	unsigned int switch_timer_interval;
	unsigned int read_timer_interval;
	enum lttng_event_output output;
	uint64_t tracefile_size;
	uint64_t tracefile_count;
	unsigned int live_timer_interval;
	uint32_t align_to_64;
	union {
		uint64_t padding;
		void *ptr;
	} extended;
	char padding[268];
};

struct lttng_channel {
	char name[LTTNG_SYMBOL_NAME_LEN];
	uint32_t enabled;
	struct lttng_channel_attr attr;
	char padding[16];
};

/*
 * Return a channel with the attributes of its domain by default, which have room for what the
 * structure has not; NULL without memory.
 */
struct lttng_channel *lttng_channel_create(struct lttng_domain *domain);

void lttng_channel_destroy(struct lttng_channel *channel);

/* Return how many there are, and an array of them that is to be freed with free(). */
int lttng_list_channels(struct lttng_handle *handle, struct lttng_channel **channels);

/* Make a channel, or enable it again. One without a name is "channel0". */
int lttng_enable_channel(struct lttng_handle *handle, struct lttng_channel *chan);

int lttng_disable_channel(struct lttng_handle *handle, const char *name);

/* Fill in what a channel of a domain has by default. */
void lttng_channel_set_default_attr(struct lttng_domain *domain, struct lttng_channel_attr *attr);

/* These work on channels that were listed. */
int lttng_channel_get_discarded_event_count(struct lttng_channel *chan,
					    uint64_t *discarded_events);

int lttng_channel_get_lost_packet_count(struct lttng_channel *chan, uint64_t *lost_packets);

/* These work on channels that were listed or made with lttng_channel_create(). */
int lttng_channel_get_monitor_timer_interval(struct lttng_channel *chan,
					     uint64_t *monitor_timer_interval);

int lttng_channel_set_monitor_timer_interval(struct lttng_channel *chan,
					     uint64_t monitor_timer_interval);

int lttng_channel_get_blocking_timeout(struct lttng_channel *chan, int64_t *blocking_timeout);

int lttng_channel_set_blocking_timeout(struct lttng_channel *chan, int64_t blocking_timeout);

#ifdef __cplusplus
}
#endif

#endif
