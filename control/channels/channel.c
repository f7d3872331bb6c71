/*
 * Channels.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "../protocol/text.h"
#include "domain_names.h"

#define DEFAULT_CHANNEL "channel0"

/* What the public structure has no place for. */
struct extension {
	uint64_t discarded_events;
	uint64_t lost_packets;
	uint64_t monitor_timer;
	int64_t blocking_timeout;
};

/* What a channel has by default, in microseconds. */
#define MONITOR_TIMER 1000000

void lttng_channel_set_default_attr(struct lttng_domain *domain, struct lttng_channel_attr *attr)
{
	struct extension *extension;

	if (!domain || !attr)
		return;
	extension = attr->extended.ptr;
	memset(attr, 0, sizeof(*attr));
	attr->overwrite = -1;
	attr->num_subbuf = 4;
	attr->output = LTTNG_EVENT_MMAP;
	if (domain->type == LTTNG_DOMAIN_KERNEL) {
		attr->subbuf_size = 1u << 20;
		attr->read_timer_interval = 200000;
		attr->output = LTTNG_EVENT_SPLICE;
	} else {
		attr->subbuf_size =
			domain->buf_type == LTTNG_BUFFER_PER_UID ? 512u << 10 : 16u << 10;
	}
	if (extension) {
		extension->monitor_timer = MONITOR_TIMER;
		extension->blocking_timeout = 0;
		attr->extended.ptr = extension;
	}
}

struct lttng_channel *lttng_channel_create(struct lttng_domain *domain)
{
	struct lttng_channel *channel;

	if (!domain)
		return NULL;
	/* In one piece, as those that are listed. */
	channel = calloc(1, sizeof(*channel) + sizeof(struct extension));
	if (!channel)
		return NULL;
	channel->attr.extended.ptr = channel + 1;
	lttng_channel_set_default_attr(domain, &channel->attr);
	return channel;
}

void lttng_channel_destroy(struct lttng_channel *channel)
{
	free(channel);
}

static void fill(struct lttng_channel *channel, struct extension *extension,
		 const struct json *found)
{
	const struct json *const attributes = control_member(found, "attributes");
	struct lttng_channel_attr *const attr = &channel->attr;

	control_copy(channel->name, sizeof(channel->name), control_text_member(found, "name"));
	channel->enabled = control_flag_member(found, "enabled");
	attr->overwrite = control_flag_member(attributes, "overwrite");
	attr->subbuf_size = control_whole_member(attributes, "subbuf_size");
	attr->num_subbuf = control_whole_member(attributes, "num_subbuf");
	attr->switch_timer_interval =
		(unsigned int) control_whole_member(attributes, "switch_timer");
	attr->read_timer_interval = (unsigned int) control_whole_member(attributes, "read_timer");
	attr->output = control_same_text(control_text_member(attributes, "output"), "splice")
		? LTTNG_EVENT_SPLICE
		: LTTNG_EVENT_MMAP;
	attr->tracefile_size = control_whole_member(attributes, "tracefile_size");
	attr->tracefile_count = control_whole_member(attributes, "tracefile_count");
	extension->discarded_events = control_whole_member(found, "discarded_events");
	extension->lost_packets = control_whole_member(found, "lost_packets");
	extension->monitor_timer = control_whole_member(attributes, "monitor_timer");
	extension->blocking_timeout = control_integer_member(attributes, "blocking_timeout", 0);
	attr->extended.ptr = extension;
}

/* Return the channels in one piece, since who asked frees one; NULL without memory. */
static struct lttng_channel *copy_channels(const struct json *channels)
{
	const size_t count = control_count(channels);
	struct extension *extensions;
	struct lttng_channel *const found =
		calloc(count ? count : 1, sizeof(*found) + sizeof(*extensions));
	struct lttng_channel *next = found;

	if (!found)
		return NULL;
	extensions = (struct extension *) (found + count);
	for (CONTROL_EACH(one, channels))
		fill(next++, extensions++, one);
	return found;
}

int lttng_list_channels(struct lttng_handle *handle, struct lttng_channel **channels)
{
	const struct json *list;
	struct answer answer;
	bool is_kernel;
	int code;

	if (!handle || !channels)
		return -LTTNG_ERR_INVALID;
	is_kernel = handle->domain.type == LTTNG_DOMAIN_KERNEL;
	if (handle->domain.type != LTTNG_DOMAIN_UST && !is_kernel)
		return -LTTNG_ERR_UND;
	code = control_ask_of_session("describe", handle->session_name, &answer);
	if (code)
		return code;
	list = control_member(answer.value, is_kernel ? "kernel_channels" : "channels");
	*channels = copy_channels(list);
	code = *channels ? (int) control_count(list) : -LTTNG_ERR_NOMEM;
	control_free_answer(&answer);
	return code;
}

static void write_attributes(struct request *request, const struct lttng_channel_attr *attr)
{
	const struct extension *const extension = attr->extended.ptr;

	/* Otherwise, the daemon knows what suits the session. */
	if (attr->overwrite >= 0)
		control_write_flag(request, "overwrite", attr->overwrite != 0);
	if (attr->subbuf_size)
		control_write_whole(request, "subbuf_size", attr->subbuf_size);
	if (attr->num_subbuf)
		control_write_whole(request, "num_subbuf", attr->num_subbuf);
	control_write_whole(request, "switch_timer", attr->switch_timer_interval);
	control_write_whole(request, "read_timer", attr->read_timer_interval);
	control_write_whole(request, "tracefile_size", attr->tracefile_size);
	control_write_whole(request, "tracefile_count", attr->tracefile_count);
	if (extension) {
		control_write_whole(request, "monitor_timer", extension->monitor_timer);
		control_write_integer(request, "blocking_timeout", extension->blocking_timeout);
	}
}

int lttng_enable_channel(struct lttng_handle *handle, struct lttng_channel *chan)
{
	const char *domain;
	struct request request;

	if (!handle || !chan)
		return -LTTNG_ERR_INVALID;
	domain = control_domain_name(handle->domain.type);
	if (!domain)
		return -LTTNG_ERR_UNKNOWN_DOMAIN;
	control_begin_request(&request, "enable-channel");
	control_write_text(&request, "session", handle->session_name);
	control_write_text(&request, "domain", domain);
	control_write_text(&request, "channel", *chan->name ? chan->name : DEFAULT_CHANNEL);
	if (handle->domain.type == LTTNG_DOMAIN_UST)
		control_write_text(&request, "buffers",
				   control_buffers_name(handle->domain.buf_type));
	else if (handle->domain.type == LTTNG_DOMAIN_KERNEL)
		control_write_text(&request, "output",
				   chan->attr.output == LTTNG_EVENT_MMAP ? "mmap" : "splice");
	write_attributes(&request, &chan->attr);
	return control_ask(&request, NULL);
}

int lttng_disable_channel(struct lttng_handle *handle, const char *name)
{
	struct request request;

	if (!handle || !name)
		return -LTTNG_ERR_INVALID;
	control_begin_request(&request, "disable-channel");
	control_write_text(&request, "session", handle->session_name);
	control_write_text(&request, "domain", control_domain_name(handle->domain.type));
	control_write_text(&request, "channel", name);
	return control_ask(&request, NULL);
}

int lttng_channel_get_discarded_event_count(struct lttng_channel *chan,
					    uint64_t *discarded_events)
{
	if (!chan || !discarded_events || !chan->attr.extended.ptr)
		return -LTTNG_ERR_INVALID;
	*discarded_events = ((struct extension *) chan->attr.extended.ptr)->discarded_events;
	return 0;
}

int lttng_channel_get_lost_packet_count(struct lttng_channel *chan, uint64_t *lost_packets)
{
	if (!chan || !lost_packets || !chan->attr.extended.ptr)
		return -LTTNG_ERR_INVALID;
	*lost_packets = ((struct extension *) chan->attr.extended.ptr)->lost_packets;
	return 0;
}

int lttng_channel_get_monitor_timer_interval(struct lttng_channel *chan,
					     uint64_t *monitor_timer_interval)
{
	if (!chan || !monitor_timer_interval || !chan->attr.extended.ptr)
		return -LTTNG_ERR_INVALID;
	*monitor_timer_interval = ((struct extension *) chan->attr.extended.ptr)->monitor_timer;
	return 0;
}

int lttng_channel_set_monitor_timer_interval(struct lttng_channel *chan,
					     uint64_t monitor_timer_interval)
{
	if (!chan || !chan->attr.extended.ptr)
		return -LTTNG_ERR_INVALID;
	((struct extension *) chan->attr.extended.ptr)->monitor_timer = monitor_timer_interval;
	return 0;
}

int lttng_channel_get_blocking_timeout(struct lttng_channel *chan, int64_t *blocking_timeout)
{
	if (!chan || !blocking_timeout || !chan->attr.extended.ptr)
		return -LTTNG_ERR_INVALID;
	*blocking_timeout = ((struct extension *) chan->attr.extended.ptr)->blocking_timeout;
	return 0;
}

int lttng_channel_set_blocking_timeout(struct lttng_channel *chan, int64_t blocking_timeout)
{
	/* The daemon would read any other number as a time. */
	if (!chan || !chan->attr.extended.ptr || blocking_timeout < -1)
		return -LTTNG_ERR_INVALID;
	((struct extension *) chan->attr.extended.ptr)->blocking_timeout = blocking_timeout;
	return 0;
}
