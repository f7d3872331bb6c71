/* Finds the run directory of a session daemon, and connects to it. */
#define _GNU_SOURCE
#include "meeting.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "../agreement/agreement.h"
#include "../base/system.h"

/* What is sent waits as long for a daemon that does not read. */
#define MOST_SECONDS 5
/* Away from the numbers that programs use and count on. */
#define HIGH_DESCRIPTOR 900

/* As long as the address of a socket. */
static char folder[sizeof(((struct sockaddr_un *) NULL)->sun_path)];
/* The page of the daemon; we can only read it. */
static const volatile uint32_t *page;

/* Whether somebody may tell this program what to do. */
static bool is_trusted(uid_t user)
{
	return user == 0 || user == (uid_t) getauxval(AT_EUID);
}

static bool open_page(void)
{
	char path[sizeof(folder) + sizeof(REGISTRATION_PAGE)];
	struct stat status;
	int file;

	snprintf(path, sizeof(path), "%s/" REGISTRATION_PAGE, folder);
	file = system_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	if (system_fstat(file, &status) && S_ISREG(status.st_mode) && is_trusted(status.st_uid) &&
	    status.st_size >= (off_t) sizeof(*page))
		page = system_mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, file);
	system_close(file);
	return page;
}

static bool try(const char *start, const char *rest)
{
	const int length = snprintf(folder, sizeof(folder), "%s%s", start, rest);

	return length > 0 &&
		(size_t) length + sizeof("/" REGISTRATION_SOCKET) <= sizeof(folder) &&
		open_page();
}

bool meeting_find(void)
{
	const char *chosen = secure_getenv(RUN_VARIABLE);
	const char *answer = secure_getenv(REGISTER_VARIABLE);
	const char *home;

	if (page)
		return true;
	if (getauxval(AT_SECURE) || secure_getenv(OFF_VARIABLE) ||
	    (answer && !strcmp(answer, "0")))
		return false;
	if (chosen && *chosen)
		return try(chosen, "");
	home = secure_getenv("LTTNG_HOME");
	if (!home || !*home)
		home = secure_getenv("HOME");
	return (getauxval(AT_EUID) && home && *home && try(home, "/" USER_RUN_FOLDER)) ||
		try(SYSTEM_RUN_FOLDER, "");
}

uint32_t meeting_number(void)
{
	return *page;
}

void meeting_wait(uint32_t number)
{
	system_call(SYS_futex, (long) page, FUTEX_WAIT, number, 0, 0, 0);
}

/* Whether the daemon is one that may tell us what to do; and do not wait for it for ever. */
static bool is_sound(int connection)
{
	const struct timeval limit = {.tv_sec = MOST_SECONDS};
	struct ucred peer;
	unsigned int size = sizeof(peer);

	return system_call(SYS_getsockopt, connection, SOL_SOCKET, SO_PEERCRED, (long) &peer,
			   (long) &size, 0) == 0 &&
		is_trusted(peer.uid) &&
		system_call(SYS_setsockopt, connection, SOL_SOCKET, SO_SNDTIMEO, (long) &limit,
			    sizeof(limit), 0) == 0;
}

/* Away from where programs look; the same one where there is no such number. */
static int move(int file)
{
	const long high = system_call(SYS_fcntl, file, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0, 0, 0);

	if (high < 0)
		return file;
	system_close(file);
	return (int) high;
}

int meeting_connect(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const int connection = (int) system_call(
		SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);

	if (connection < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s/" REGISTRATION_SOCKET,
		 (int) (sizeof(address.sun_path) - sizeof("/" REGISTRATION_SOCKET)), folder);
	/* It does not wait for a daemon whose queue is full, or that is stopped. */
	if (system_call(SYS_connect, connection, (long) &address, sizeof(address), 0, 0, 0) ==
		    0 &&
	    is_sound(connection) && system_call(SYS_fcntl, connection, F_SETFL, 0, 0, 0, 0) == 0)
		return move(connection);
	system_close(connection);
	return -1;
}

long meeting_patience(void)
{
	const char *text = secure_getenv(REGISTER_TIMEOUT_VARIABLE);

	return text && *text ? strtol(text, NULL, 10) : REGISTER_TIMEOUT;
}
