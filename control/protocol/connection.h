/*
 * Connections to a daemon: lines there and back.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef VESTIGE_CONTROL_CONNECTION_H
#define VESTIGE_CONTROL_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"
#include "request.h"

struct connection {
	int file;
	/* What has come and was not taken. */
	char *bytes;
	size_t length;
	size_t room;
	/* How much of it is known to have no end of a line. */
	size_t searched;
};

/* What came of waiting for a line. */
enum line_status {
	LINE_READ,
	/* A signal came; only where that is asked for. */
	LINE_INTERRUPTED,
	LINE_LATE,
	/* The daemon has ended the connection, or what it says is too long, or no memory is left. */
	LINE_ENDED,
};

/* What a daemon has answered. */
struct answer {
	char *line;
	struct json *message;
	/* What was asked for. */
	const struct json *value;
};

/* Connect to the daemon; return 0, or a negative error code. */
int control_connect(struct connection *connection);

/* End a connection. */
void control_disconnect(struct connection *connection);

/* Send a line; return false if that cannot be done. */
bool control_send(struct connection *connection, const char *bytes, size_t length);

/*
 * Wait for a line, which is to be freed, for some milliseconds, -1 for ever. What is read in the
 * meantime is kept.
 */
enum line_status control_receive(struct connection *connection, int milliseconds,
				 bool is_interruptible, char **line, size_t *length);

/* How long to wait for an answer: programs that do not answer the daemon are given up before. */
#define CONTROL_LONGEST_WAIT 120000

/*
 * Ask for something, which frees the request, and wait for the answer; return 0, or a negative
 * error code. The answer is to be freed if it is 0. Where no answer is wanted it may be NULL.
 */
int control_ask(struct request *request, struct answer *answer);

/* As that for a verb that needs the name of a session at most. */
int control_ask_of_session(const char *verb, const char *session, struct answer *answer);

/*
 * As that, with memory for a handle of so many bytes that is there before anything is done; with
 * 0 bytes there is none.
 */
int control_ask_for_handle(const char *verb, const char *session, size_t size, void **handle,
			   struct answer *answer);

/* Free an answer. */
void control_free_answer(struct answer *answer);

/*
 * Return what a message of a daemon means: 0, or the negative error code of a refusal; in its
 * value what was asked for.
 */
int control_judge(const struct json *message, const struct json **value);

#endif
