/*
 * Gets at the file of the arena.
 *
 * A program may be started as another user, or where the file system is another one. Then the
 * collector gives it a descriptor over an abstract socket, to which no path leads: the kernel
 * tells the collector who asks, and the token tells that it belongs to the recording. It gives
 * the arena of the user who asks, which is not the one at the path for other users.
 */
#define _GNU_SOURCE
#include "descriptor.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../base/system.h"

/* How long a program waits at most for each step, since it waits before it begins. */
#define MOST_SECONDS 2
/* Of a program that is not recorded. */
#define LONGEST_NAME 64

/* What is at the path must be the file that the recorder has made. */
static bool is_meant(const struct stat *status, const struct arena_place *place)
{
	return (uint64_t) status->st_ino == place->inode;
}

/* What is given must be this user's alone: whoever has the name of the socket after the
 * collector could give anything. */
static bool is_own(const struct stat *status, const struct arena_place *place)
{
	(void) place;
	return status->st_uid == getauxval(AT_EUID) && !(status->st_mode & (S_IRWXG | S_IRWXO));
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

static bool connect_to(int connection, const char *name)
{
	const struct timeval limit = {.tv_sec = MOST_SECONDS};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const size_t length = strlen(name);

	memcpy(address.sun_path + 1, name, length);
	/* A queue that is full makes connect() wait, too. */
	return system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_SNDTIMEO, (long) &limit,
			   sizeof(limit), 0) == 0 &&
		system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_RCVTIMEO, (long) &limit,
			    sizeof(limit), 0) == 0 &&
		system_call(SYS_connect, connection, (long) &address,
			    (long) (offsetof(struct sockaddr_un, sun_path) + 1 + length), 0, 0,
			    0) == 0;
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
	int file = -1;

	memset(&control, 0, sizeof(control));
	if (system_call(SYS_recvmsg, connection, (long) &message, MSG_CMSG_CLOEXEC, 0, 0, 0) < 1)
		return -1;
	if (message.msg_controllen >= CMSG_LEN(sizeof(file)) && head->cmsg_level == SOL_SOCKET &&
	    head->cmsg_type == SCM_RIGHTS && head->cmsg_len == CMSG_LEN(sizeof(file)))
		memcpy(&file, CMSG_DATA(head), sizeof(file));
	return file;
}

static int ask(const struct arena_place *place)
{
	const int connection =
		(int) system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
	int file = -1;

	if (connection < 0)
		return -1;
	if (connect_to(connection, place->socket) &&
	    system_call(SYS_sendto, connection, (long) place->token, sizeof(place->token),
			MSG_NOSIGNAL, 0, 0) == (long) sizeof(place->token))
		file = receive(connection);
	system_close(connection);
	return file;
}

void descriptor_tell(const struct arena_place *place, const char *name)
{
	char message[ARENA_TOKEN_SIZE + 1 + LONGEST_NAME];
	size_t length = strlen(name);
	int connection;

	if (!place->socket[0])
		return;
	connection =
		(int) system_call(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, 0, 0, 0);
	if (connection < 0)
		return;
	if (length > LONGEST_NAME)
		length = LONGEST_NAME;
	memcpy(message, place->token, ARENA_TOKEN_SIZE);
	message[ARENA_TOKEN_SIZE] = '!';
	memcpy(message + ARENA_TOKEN_SIZE + 1, name, length);
	if (connect_to(connection, place->socket))
		system_call(SYS_sendto, connection, (long) message,
			    (long) (ARENA_TOKEN_SIZE + 1 + length), MSG_NOSIGNAL, 0, 0);
	system_close(connection);
}

int descriptor_open(const struct arena_place *place)
{
	int file = -1;

	if (place->path[0])
		file = take(system_open(place->path, O_RDWR | O_NOFOLLOW | O_NONBLOCK), place,
			    is_meant);
	if (file < 0 && place->socket[0])
		file = take(ask(place), place, is_own);
	return file;
}
