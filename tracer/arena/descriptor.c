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
/* As long in all, where others ask at the same time. */
#define PAUSE_NS 1000000
#define MOST_ATTEMPTS (MOST_SECONDS * 1000)

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

static bool set_limits(int connection)
{
	const struct timeval limit = {.tv_sec = MOST_SECONDS};

	/* A queue that is full makes connect() wait, too. */
	return system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_SNDTIMEO, (long) &limit,
			   sizeof(limit), 0) == 0 &&
		system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_RCVTIMEO, (long) &limit,
			    sizeof(limit), 0) == 0;
}

/* By the name of the collector's socket. */
static int connect_by_name(const char *name)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(name);
	const int connection =
		(int) system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);

	if (connection < 0)
		return -1;
	memcpy(address.sun_path + 1, name, length);
	if (set_limits(connection) &&
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
static bool send_over(int socket, int file)
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
	for (int attempt = 0; done == -EAGAIN && attempt < MOST_ATTEMPTS; attempt++) {
		if (attempt)
			system_sleep(&pause);
		done = system_call(SYS_sendmsg, socket, (long) &message,
				   MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0, 0);
	}
	return done == 1;
}

/* By the socket that was inherited. */
static int connect_by_inherited(const struct arena_place *place)
{
	int ends[2];

	if (!is_inherited(place) ||
	    system_call(SYS_socketpair, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, (long) ends, 0,
			0) != 0)
		return -1;
	if (!set_limits(ends[0]) || !send_over(place->inherited, ends[1])) {
		system_close(ends[0]);
		ends[0] = -1;
	}
	system_close(ends[1]);
	return ends[0];
}

/* A connection with the collector; negative for none. */
static int connect_to_collector(const struct arena_place *place)
{
	const int connection = place->socket[0] ? connect_by_name(place->socket) : -1;

	return connection < 0 ? connect_by_inherited(place) : connection;
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

/* A descriptor that comes with a byte or more; negative for none. */
static int receive(int connection)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec data = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *head = &control.head;

	memset(&control, 0, sizeof(control));
	if (system_call(SYS_recvmsg, connection, (long) &message, MSG_CMSG_CLOEXEC, 0, 0, 0) < 1)
		return -1;
	if (message.msg_controllen < CMSG_LEN(sizeof(int)) || head->cmsg_level != SOL_SOCKET ||
	    head->cmsg_type != SCM_RIGHTS)
		return -1;
	return take_one(head);
}

static int ask(const struct arena_place *place)
{
	const int connection = connect_to_collector(place);
	int file = -1;

	if (connection < 0)
		return -1;
	if (system_call(SYS_sendto, connection, (long) place->token, sizeof(place->token),
			MSG_NOSIGNAL, 0, 0) == (long) sizeof(place->token))
		file = receive(connection);
	system_close(connection);
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
