/*
 * Connections: see connection.h. Each request has one of its own, so threads and forked processes
 * need no thought of each other.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "connection.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <lttng/lttng-error.h>

#include "error_names.h"
#include "sockets.h"

/* Bytes of a line, as in docs/reference/lttng.md. */
#define LONGEST_LINE (16u << 20)
#define LEAST_ROOM (16u << 10)
#define VERSION 1

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t) time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

/* Return the milliseconds that are left until a time; -1 is for ever. */
static int left_until(int64_t end)
{
	const int64_t left = end - now();

	if (end < 0)
		return -1;
	return left > 0 ? (int) left : 0;
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(path);
	int file;

	if (length == 0 || length >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, length + 1);
	file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (file < 0)
		return -1;
	while (connect(file, (struct sockaddr *) &address, sizeof(address)) != 0) {
		if (errno != EINTR) {
			close(file);
			return -1;
		}
	}
	return file;
}

int control_connect(struct connection *connection)
{
	char path[sizeof(((struct sockaddr_un *) NULL)->sun_path)];

	memset(connection, 0, sizeof(*connection));
	connection->file = -1;
	for (unsigned int i = 0;
	     connection->file < 0 && control_socket_path(i, path, sizeof(path)); i++)
		connection->file = connect_to(path);
	return connection->file < 0 ? -LTTNG_ERR_NO_SESSIOND : 0;
}

void control_disconnect(struct connection *connection)
{
	if (connection->file >= 0)
		close(connection->file);
	connection->file = -1;
	free(connection->bytes);
	connection->bytes = NULL;
}

bool control_send(struct connection *connection, const char *bytes, size_t length)
{
	const int64_t end = now() + CONTROL_LONGEST_WAIT;

	while (length) {
		/* A daemon that reads nothing must not hold the program for ever. */
		const ssize_t sent =
			send(connection->file, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT);
		struct pollfd wanted = {.fd = connection->file, .events = POLLOUT};

		if (sent >= 0) {
			bytes += sent;
			length -= (size_t) sent;
		} else if (errno == EAGAIN) {
			const int left = left_until(end);

			if (left == 0 || (poll(&wanted, 1, left) < 0 && errno != EINTR))
				return false;
		} else if (errno != EINTR) {
			return false;
		}
	}
	return true;
}

/* Take the first line out of what has come, if it is there as a whole. */
static bool take_line(struct connection *connection, char **line, size_t *length)
{
	char *const begin = connection->bytes;
	char *end;

	if (connection->length == connection->searched)
		return false;
	end = memchr(begin + connection->searched, '\n',
		     connection->length - connection->searched);
	connection->searched = connection->length;
	if (!end)
		return false;
	*length = (size_t) (end - begin);
	*line = malloc(*length + 1);
	if (!*line)
		return false;
	memcpy(*line, begin, *length);
	(*line)[*length] = '\0';
	connection->length -= *length + 1;
	memmove(begin, end + 1, connection->length);
	connection->searched = 0;
	return true;
}

static bool make_room(struct connection *connection)
{
	const size_t room = connection->room ? 2 * connection->room : LEAST_ROOM;
	char *larger;

	if (connection->length < connection->room)
		return true;
	if (connection->room > LONGEST_LINE)
		return false;
	larger = realloc(connection->bytes, room);
	if (!larger)
		return false;
	connection->bytes = larger;
	connection->room = room;
	return true;
}

/* Read what is there; return false if nothing will come any more. */
static bool read_more(struct connection *connection)
{
	ssize_t got;

	if (!make_room(connection))
		return false;
	got = recv(connection->file, connection->bytes + connection->length,
		   connection->room - connection->length, MSG_DONTWAIT);
	if (got < 0)
		return errno == EINTR || errno == EAGAIN;
	connection->length += (size_t) got;
	return got > 0;
}

enum line_status control_receive(struct connection *connection, int milliseconds,
				 bool is_interruptible, char **line, size_t *length)
{
	const int64_t end = milliseconds < 0 ? -1 : now() + milliseconds;

	while (!take_line(connection, line, length)) {
		struct pollfd wanted = {.fd = connection->file, .events = POLLIN};
		const int left = left_until(end);
		const int ready = poll(&wanted, 1, left);

		if (ready < 0 && errno == EINTR && is_interruptible)
			return LINE_INTERRUPTED;
		if (ready < 0 && errno != EINTR)
			return LINE_ENDED;
		if (ready > 0 && !read_more(connection))
			return LINE_ENDED;
		if (ready == 0)
			return LINE_LATE;
		/* A daemon that sends a byte now and then does not make it longer. */
		if (left == 0)
			return take_line(connection, line, length) ? LINE_READ : LINE_LATE;
	}
	return LINE_READ;
}

int control_judge(const struct json *message, const struct json **value)
{
	const char *const refusal = control_text_member(message, "refusal");

	if (control_integer_member(message, "version", 0) != VERSION)
		return -LTTNG_ERR_INVALID_PROTOCOL;
	if (refusal)
		return -(int) control_error_code(refusal);
	*value = control_member(message, "answer");
	return *value ? 0 : -LTTNG_ERR_INVALID_PROTOCOL;
}

static int exchange(const struct request *request, struct answer *answer)
{
	struct connection connection;
	size_t length;
	int code = control_connect(&connection);

	if (code)
		return code;
	if (!control_send(&connection, request->bytes, request->length) ||
	    control_receive(&connection, CONTROL_LONGEST_WAIT, false, &answer->line, &length) !=
		    LINE_READ)
		code = -LTTNG_ERR_CONNECT_FAIL;
	control_disconnect(&connection);
	if (code)
		return code;
	answer->message = control_read_json(answer->line, length);
	if (!answer->message)
		return -LTTNG_ERR_INVALID_PROTOCOL;
	return control_judge(answer->message, &answer->value);
}

int control_ask(struct request *request, struct answer *answer)
{
	struct answer own = {0};
	int code = -LTTNG_ERR_NOMEM;

	control_end_request(request);
	if (!request->has_failed)
		code = request->length > LONGEST_LINE ? -LTTNG_ERR_INVALID
						      : exchange(request, &own);
	control_free_request(request);
	if (code || !answer)
		control_free_answer(&own);
	else
		*answer = own;
	return code;
}

int control_ask_of_session(const char *verb, const char *session, struct answer *answer)
{
	struct request request;

	control_begin_request(&request, verb);
	if (session)
		control_write_text(&request, "session", session);
	return control_ask(&request, answer);
}

int control_ask_for_handle(const char *verb, const char *session, size_t size, void **handle,
			   struct answer *answer)
{
	void *const made = size ? calloc(1, size) : NULL;
	int code;

	if (size && !made)
		return -LTTNG_ERR_NOMEM;
	code = control_ask_of_session(verb, session, answer);
	if (code)
		free(made);
	else if (made)
		*handle = made;
	return code;
}

void control_free_answer(struct answer *answer)
{
	free(answer->message);
	free(answer->line);
	memset(answer, 0, sizeof(*answer));
}
