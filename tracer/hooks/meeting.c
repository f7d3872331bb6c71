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
#include "../agreement/registration.h"
#include "../base/system.h"

/* What is sent waits as long for a daemon that does not read. */
#define MOST_SECONDS 5
/* Away from the numbers that programs use and count on. */
#define HIGH_DESCRIPTOR 900

#define PAGE_SIZE 4096
#define SHARED_MEMORY "/dev/shm/"

/* As long as the address of a socket. */
typedef char place_path[sizeof(((struct sockaddr_un *) NULL)->sun_path)];

/* Where daemons of this program may be: they are asked of the environment at the start, which the
 * program may change later. */
static place_path places[2];
static int place_count;
/* The one where a daemon has been; NULL before. */
static const char *folder;
/* The page of the daemon, or of this user; we can only read it. */
static const volatile uint32_t *page;

/* Whether somebody may tell this program what to do. */
static bool is_trusted(uid_t user)
{
	return user == 0 || user == (uid_t) getauxval(AT_EUID);
}

/* Map a page, unless there is one already; false if the file is none that may be. */
static bool take_page(int file)
{
	struct stat status;
	const bool is_sound = system_fstat(file, &status) && S_ISREG(status.st_mode) &&
		is_trusted(status.st_uid) && status.st_size >= (off_t) sizeof(*page);

	if (is_sound && !page)
		page = system_mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, file);
	system_close(file);
	return is_sound && page;
}

static bool open_page(const char *place)
{
	char path[sizeof(place_path) + sizeof(REGISTRATION_PAGE)];
	int file;

	if (snprintf(path, sizeof(path), "%s/" REGISTRATION_PAGE, place) >= (int) sizeof(path))
		return false;
	file = system_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	return file >= 0 && take_page(file);
}

/* The page of this user, which all daemons know; made where it is not there. */
static bool open_call(void)
{
	char path[sizeof(SHARED_MEMORY REGISTRATION_CALL) + 12];
	struct stat status;
	int file;

	snprintf(path, sizeof(path), SHARED_MEMORY REGISTRATION_CALL "%u",
		 (unsigned int) getauxval(AT_EUID));
	file = system_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	/* With its memory: a page that cannot be made ends who reads it. It changes no number that
	 * is there already. */
	if (system_fstat(file, &status) && S_ISREG(status.st_mode) && !status.st_size)
		system_call(SYS_fallocate, file, 0, 0, PAGE_SIZE, 0, 0);
	return take_page(file);
}

static void add_place(const char *start, const char *rest)
{
	const int length = snprintf(places[place_count], sizeof(places[0]), "%s%s", start, rest);

	if (length > 0 && (size_t) length + sizeof("/" REGISTRATION_SOCKET) <= sizeof(places[0]))
		place_count++;
}

static void choose_places(void)
{
	const char *chosen = secure_getenv(RUN_VARIABLE);
	const char *home = secure_getenv("LTTNG_HOME");

	place_count = 0;
	if (chosen && *chosen) {
		add_place(chosen, "");
		return;
	}
	if (!home || !*home)
		home = secure_getenv("HOME");
	if (getauxval(AT_EUID) && home && *home)
		add_place(home, "/" USER_RUN_FOLDER);
	add_place(SYSTEM_RUN_FOLDER, "");
}

/* Look where a daemon has been. */
static bool find_folder(void)
{
	for (int index = 0; index < place_count && !folder; index++)
		if (open_page(places[index]))
			folder = places[index];
	return folder;
}

bool meeting_find(void)
{
	const char *answer = secure_getenv(REGISTER_VARIABLE);

	if (page)
		return true;
	if (getauxval(AT_SECURE) || secure_getenv(OFF_VARIABLE) ||
	    (answer && !strcmp(answer, "0")))
		return false;
	choose_places();
	return find_folder() || open_call();
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
	int connection;

	if (!find_folder())
		return -1;
	connection = (int) system_call(SYS_socket, AF_UNIX,
				       SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
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
