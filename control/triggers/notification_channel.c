/*
 * Notification channels: a connection on which a daemon tells what it finds.
 *
 * What comes while an answer is waited for is kept in its order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <lttng/lttng.h>

#include "../protocol/connection.h"
#include "condition.h"
#include "notification.h"

/* More than a daemon keeps for somebody who does not read; then notifications are dropped. */
#define MOST_WAITING 4096

/* What a message says. */
enum news { NEWS_NOTIFICATION, NEWS_DROPPED, NEWS_CLOSED, NEWS_ANSWER, NEWS_UNKNOWN };

struct waiting {
	struct waiting *next;
	/* NULL where some were dropped. */
	struct lttng_notification *notification;
};

struct lttng_notification_channel {
	pthread_mutex_t lock;
	struct connection connection;
	struct waiting *first;
	struct waiting *last;
	unsigned int count;
	bool is_closed;
};

struct lttng_notification_channel *
lttng_notification_channel_create(struct lttng_endpoint *endpoint)
{
	struct lttng_notification_channel *channel;

	if (endpoint != lttng_session_daemon_notification_endpoint)
		return NULL;
	channel = calloc(1, sizeof(*channel));
	if (!channel)
		return NULL;
	if (control_connect(&channel->connection) != 0) {
		free(channel);
		return NULL;
	}
	pthread_mutex_init(&channel->lock, NULL);
	return channel;
}

/* Take what waits longest; false if nothing does. */
static bool take(struct lttng_notification_channel *channel,
		 struct lttng_notification **notification)
{
	struct waiting *const first = channel->first;

	if (!first)
		return false;
	*notification = first->notification;
	channel->first = first->next;
	if (!channel->first)
		channel->last = NULL;
	channel->count--;
	free(first);
	return true;
}

void lttng_notification_channel_destroy(struct lttng_notification_channel *channel)
{
	struct lttng_notification *notification;

	if (!channel)
		return;
	control_disconnect(&channel->connection);
	while (take(channel, &notification))
		lttng_notification_destroy(notification);
	pthread_mutex_destroy(&channel->lock);
	free(channel);
}

/* Keep a notification, or with NULL that some were dropped. */
static void keep(struct lttng_notification_channel *channel,
		 struct lttng_notification *notification)
{
	struct waiting *one;

	/* It is told once that some were dropped. */
	if (channel->count >= MOST_WAITING) {
		lttng_notification_destroy(notification);
		notification = NULL;
	}
	if (!notification && channel->last && !channel->last->notification)
		return;
	one = calloc(1, sizeof(*one));
	if (!one) {
		lttng_notification_destroy(notification);
		return;
	}
	one->notification = notification;
	if (channel->last)
		channel->last->next = one;
	else
		channel->first = one;
	channel->last = one;
	channel->count++;
}

/* Keep what a message says, or return what it answers. */
static enum news sort(struct lttng_notification_channel *channel, const struct json *message,
		      int *code)
{
	const struct json *const found = control_member(message, "notification");
	const struct json *value;

	if (found) {
		struct lttng_notification *const notification = control_read_notification(found);

		/* One that is not understood is one that is lost. */
		keep(channel, notification);
		return NEWS_NOTIFICATION;
	}
	if (control_member(message, "dropped")) {
		keep(channel, NULL);
		return NEWS_DROPPED;
	}
	if (control_flag_member(message, "closed")) {
		channel->is_closed = true;
		return NEWS_CLOSED;
	}
	*code = control_judge(message, &value);
	return NEWS_ANSWER;
}

/* Wait for a message for some milliseconds, and sort it. */
static enum line_status receive(struct lttng_notification_channel *channel, int milliseconds,
				bool is_interruptible, enum news *news, int *code)
{
	struct json *message;
	size_t length;
	char *line;
	enum line_status status = LINE_ENDED;

	if (!channel->is_closed)
		status = control_receive(&channel->connection, milliseconds, is_interruptible,
					 &line, &length);
	if (status == LINE_ENDED)
		channel->is_closed = true;
	if (status != LINE_READ)
		return status;
	message = control_read_json(line, length);
	*news = message ? sort(channel, message, code) : NEWS_UNKNOWN;
	free(message);
	free(line);
	return status;
}

/* Return what waits longest. */
static enum lttng_notification_channel_status give(struct lttng_notification_channel *channel,
						   struct lttng_notification **notification)
{
	take(channel, notification);
	return *notification ? LTTNG_NOTIFICATION_CHANNEL_STATUS_OK
			     : LTTNG_NOTIFICATION_CHANNEL_STATUS_NOTIFICATIONS_DROPPED;
}

static enum lttng_notification_channel_status next(struct lttng_notification_channel *channel,
						   struct lttng_notification **notification)
{
	enum news news = NEWS_UNKNOWN;
	int code;

	while (!channel->first) {
		switch (receive(channel, -1, true, &news, &code)) {
		case LINE_INTERRUPTED:
			return LTTNG_NOTIFICATION_CHANNEL_STATUS_INTERRUPTED;
		case LINE_ENDED:
			return LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED;
		default:
			if (news == NEWS_CLOSED)
				return LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED;
			if (news == NEWS_UNKNOWN)
				return LTTNG_NOTIFICATION_CHANNEL_STATUS_ERROR;
		}
	}
	return give(channel, notification);
}

enum lttng_notification_channel_status
lttng_notification_channel_get_next_notification(struct lttng_notification_channel *channel,
						 struct lttng_notification **notification)
{
	enum lttng_notification_channel_status status;

	if (!channel || !notification)
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID;
	*notification = NULL;
	pthread_mutex_lock(&channel->lock);
	status = next(channel, notification);
	pthread_mutex_unlock(&channel->lock);
	return status;
}

enum lttng_notification_channel_status
lttng_notification_channel_has_pending_notification(struct lttng_notification_channel *channel,
						    bool *notification_pending)
{
	enum lttng_notification_channel_status status = LTTNG_NOTIFICATION_CHANNEL_STATUS_OK;
	enum news news;
	int code;

	if (!channel || !notification_pending)
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID;
	pthread_mutex_lock(&channel->lock);
	while (!channel->first && receive(channel, 0, false, &news, &code) == LINE_READ)
		;
	*notification_pending = channel->first != NULL;
	if (!channel->first && channel->is_closed)
		status = LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED;
	pthread_mutex_unlock(&channel->lock);
	return status;
}

/* Send a request on the channel, and wait for its answer; return 0 or a negative error code. */
static int ask(struct lttng_notification_channel *channel, const struct request *request)
{
	enum news news = NEWS_UNKNOWN;
	int code = -LTTNG_ERR_CONNECT_FAIL;

	if (channel->is_closed ||
	    !control_send(&channel->connection, request->bytes, request->length))
		return code;
	while (news != NEWS_ANSWER) {
		if (receive(channel, CONTROL_LONGEST_WAIT, false, &news, &code) != LINE_READ ||
		    news == NEWS_CLOSED || news == NEWS_UNKNOWN) {
			/* An answer that comes later would be taken for another one. */
			channel->is_closed = true;
			return -LTTNG_ERR_CONNECT_FAIL;
		}
	}
	return code;
}

/* Return what a code means on a channel; error.c has those of subscriptions. */
static enum lttng_notification_channel_status status_of(int code, bool is_closed)
{
	switch (-code) {
	case 0:
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_OK;
	case LTTNG_ERR_INVALID:
	case LTTNG_ERR_INVALID_TRIGGER:
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID;
	case LTTNG_ERR_TRIGGER_EXISTS:
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_ALREADY_SUBSCRIBED;
	case LTTNG_ERR_TRIGGER_NOT_FOUND:
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_UNKNOWN_CONDITION;
	default:
		return is_closed ? LTTNG_NOTIFICATION_CHANNEL_STATUS_CLOSED
				 : LTTNG_NOTIFICATION_CHANNEL_STATUS_ERROR;
	}
}

static enum lttng_notification_channel_status change(struct lttng_notification_channel *channel,
						     const char *verb,
						     const struct lttng_condition *condition)
{
	enum lttng_notification_channel_status status;
	struct request request;
	int code = -LTTNG_ERR_NOMEM;

	if (!channel || !condition || !control_is_complete_condition(condition))
		return LTTNG_NOTIFICATION_CHANNEL_STATUS_INVALID;
	control_begin_request(&request, verb);
	control_write_condition(&request, "condition", condition);
	control_end_request(&request);
	pthread_mutex_lock(&channel->lock);
	if (!request.has_failed)
		code = ask(channel, &request);
	status = status_of(code, channel->is_closed);
	pthread_mutex_unlock(&channel->lock);
	control_free_request(&request);
	return status;
}

enum lttng_notification_channel_status
lttng_notification_channel_subscribe(struct lttng_notification_channel *channel,
				     const struct lttng_condition *condition)
{
	return change(channel, "subscribe", condition);
}

enum lttng_notification_channel_status
lttng_notification_channel_unsubscribe(struct lttng_notification_channel *channel,
				       const struct lttng_condition *condition)
{
	return change(channel, "unsubscribe", condition);
}
