/*
 * Gets at the file of the arena.
 *
 * A program may be started as another user, or where the file system is another one. Then the
 * collector gives it a descriptor over an abstract socket, to which no path leads: the kernel
 * tells the collector who asks, and the token tells that it belongs to the recording. It gives
 * the arena of the user who asks, which is not the one at the path for other users.
 *
 * A network namespace has abstract sockets of its own. Where the recorder was asked for it, each
 * program inherits a socket that leads out of it: a program sends one end of a connection that
 * it has made, and keeps the other.
 */
#define _GNU_SOURCE
#include "descriptor.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../base/system.h"

/* How long a program waits at most for each step, since it waits before it begins. */
#define MOST_SECONDS 2
#define MOST_MILLISECONDS (MOST_SECONDS * 1000u)
/* As long in all, where others ask at the same time. */
#define PAUSE_NS 1000000

/* What is at the path must be the file that the recorder has made. */
static bool is_meant(const struct stat *status, const struct arena_place *place)
{
	return (uint64_t) status->st_ino == place->inode;
}

/* What is given must be this user's alone: whoever has the name of the socket after the
 * collector could give anything. */
static bool is_own(const struct stat *status, const struct arena_place *place)
{
	/* Asked for: it may not be that of the start any more. */
	const uid_t user = (uid_t) system_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);

	(void) place;
	return status->st_uid == user && !(status->st_mode & (S_IRWXG | S_IRWXO));
}

/* Close a file that is not the right one. */
static int take(int file, const struct arena_place *place,
		bool (*is_right)(const struct stat *status, const struct arena_place *place))
{
	struct stat status;

	if (file >= 0 &&
	    !(system_fstat(file, &status) && S_ISREG(status.st_mode) &&
	      is_right(&status, place))) {
		system_close(file);
		return -1;
	}
	return file;
}

static bool set_limits(int connection, uint32_t milliseconds)
{
	const struct timeval limit = {
		.tv_sec = milliseconds / 1000,
		.tv_usec = (suseconds_t) (milliseconds % 1000 * 1000),
	};

	/* A queue that is full makes connect() wait, too. */
	return system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_SNDTIMEO, (long) &limit,
			   sizeof(limit), 0) == 0 &&
		system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_RCVTIMEO, (long) &limit,
			    sizeof(limit), 0) == 0;
}

/* By the name of the collector's socket. */
static int connect_by_name(const char *name, uint32_t milliseconds)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(name);
	const int connection =
		(int) system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);

	if (connection < 0)
		return -1;
	memcpy(address.sun_path + 1, name, length);
	if (set_limits(connection, milliseconds) &&
	    system_call(SYS_connect, connection, (long) &address,
			(long) (offsetof(struct sockaddr_un, sun_path) + 1 + length), 0, 0,
			0) == 0)
		return connection;
	system_close(connection);
	return -1;
}

static bool is_inherited(const struct arena_place *place)
{
	struct stat status;

	return place->inherited > 0 && system_fstat(place->inherited, &status) &&
		S_ISSOCK(status.st_mode) && (uint64_t) status.st_ino == place->inherited_inode;
}

/* Send a descriptor, with one byte. The socket is that of all programs, so none of its settings
 * is changed: it is tried again for a while where its queue is full. */
static bool send_over(int socket, int file, uint32_t milliseconds)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = '+';
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	const struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct timespec pause = {.tv_nsec = PAUSE_NS};
	long done = -EAGAIN;

	memset(&control, 0, sizeof(control));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(file));
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	for (uint32_t attempt = 0; done == -EAGAIN && attempt < milliseconds; attempt++) {
		if (attempt)
			system_sleep(&pause);
		done = system_call(SYS_sendmsg, socket, (long) &message,
				   MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0, 0);
	}
	return done == 1;
}

/* By the socket that was inherited. */
static int connect_by_inherited(const struct arena_place *place, uint32_t milliseconds)
{
	int ends[2];

	if (!is_inherited(place) ||
	    system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long) ends, 0,
			0) != 0)
		return -1;
	if (!set_limits(ends[0], milliseconds) ||
	    !send_over(place->inherited, ends[1], milliseconds)) {
		system_close(ends[0]);
		ends[0] = -1;
	}
	system_close(ends[1]);
	return ends[0];
}

/* A connection with the collector; negative for none. */
static int connect_to_collector(const struct arena_place *place, uint32_t milliseconds)
{
	const int connection =
		place->socket[0] ? connect_by_name(place->socket, milliseconds) : -1;

	return connection < 0 ? connect_by_inherited(place, milliseconds) : connection;
}

/* What there is room for in a message for one: its length is rounded. */
#define MOST_GIVEN (CMSG_SPACE(sizeof(int)) / sizeof(int))

/* Take the descriptors of a message, if there is but one. Others would stay open in the program. */
static int take_one(const struct cmsghdr *head)
{
	const size_t size = head->cmsg_len - CMSG_LEN(0);
	int files[MOST_GIVEN];

	if (head->cmsg_len < CMSG_LEN(sizeof(int)) || size > sizeof(files))
		return -1;
	memcpy(files, CMSG_DATA(head), size);
	if (size == sizeof(int))
		return files[0];
	for (size_t index = 0; index < size / sizeof(int); index++)
		system_close(files[index]);
	return -1;
}

/* A byte, 0 for none, and the descriptor that comes with it; negative for none. */
static int receive(int connection, char *byte)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec data = {.iov_base = byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *head = &control.head;

	memset(&control, 0, sizeof(control));
	if (system_call(SYS_recvmsg, connection, (long) &message, MSG_CMSG_CLOEXEC, 0, 0, 0) <
	    1) {
		*byte = 0;
		return -1;
	}
	if (message.msg_controllen < CMSG_LEN(sizeof(int)) || head->cmsg_level != SOL_SOCKET ||
	    head->cmsg_type != SCM_RIGHTS)
		return -1;
	return take_one(head);
}

bool descriptor_ask(const struct arena_place *place, const struct descriptor_question *question,
		    char *answer, int *file)
{
	const int connection = connect_to_collector(place, question->milliseconds);

	*answer = 0;
	*file = -1;
	if (connection < 0)
		return false;
	if (system_call(SYS_sendto, connection, (long) question->bytes, (long) question->size,
			MSG_NOSIGNAL, 0, 0) == (long) question->size)
		*file = receive(connection, answer);
	system_close(connection);
	return true;
}

static int ask(const struct arena_place *place)
{
	const struct descriptor_question question = {
		.bytes = place->token,
		.size = sizeof(place->token),
		.milliseconds = MOST_MILLISECONDS,
	};
	char answer;
	int file;

	descriptor_ask(place, &question, &answer, &file);
	return file;
}

int descriptor_open(const struct arena_place *place)
{
	int file = -1;

	if (place->path[0])
		file = take(system_open(place->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), place,
			    is_meant);
	if (file < 0)
		file = take(ask(place), place, is_own);
	return file;
}
