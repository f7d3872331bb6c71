/* Finds the run directories of session daemons, and connects to these. */
#define _GNU_SOURCE
#include "meeting.h"

#include <limits.h>
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
static struct place {
	place_path folder;
	/* Whether a daemon has been there. */
	bool is_known;
	/* The page of the daemon, or of this user; we can only read it. */
	const volatile uint32_t *page;
	bool is_connected;
} places[MOST_MEETINGS];
static unsigned int place_count;

/* Whether somebody may tell this program what to do. */
static bool is_trusted(uid_t user)
{
	return user == 0 || user == (uid_t) getauxval(AT_EUID);
}

/* Map a page, unless there is one already; false if the file is none that may be. */
static bool take_page(struct place *place, int file)
{
	struct stat status;
	const bool is_sound = system_fstat(file, &status) && S_ISREG(status.st_mode) &&
		is_trusted(status.st_uid) && status.st_size >= (off_t) sizeof(*place->page);

	if (is_sound && !place->page)
		place->page =
			system_mmap(NULL, sizeof(*place->page), PROT_READ, MAP_SHARED, file);
	system_close(file);
	return is_sound && place->page;
}

/* Look whether a daemon has been there. */
static bool find_daemon(struct place *place)
{
	char path[sizeof(place_path) + sizeof(REGISTRATION_PAGE)];
	int file = -1;

	if (!place->is_known &&
	    snprintf(path, sizeof(path), "%s/" REGISTRATION_PAGE, place->folder) <
		    (int) sizeof(path))
		file = system_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	if (file >= 0)
		place->is_known = take_page(place, file);
	return place->is_known;
}

/* Take the page of this user, which all daemons know; it is made where it is not there. */
static void take_call(struct place *place)
{
	char path[sizeof(SHARED_MEMORY REGISTRATION_CALL) + 12];
	struct stat status;
	int file;

	snprintf(path, sizeof(path), SHARED_MEMORY REGISTRATION_CALL "%u",
		 (unsigned int) getauxval(AT_EUID));
	file = system_open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return;
	/* With its memory: a page that cannot be made ends who reads it. It changes no number that
	 * is there already. */
	if (system_fstat(file, &status) && S_ISREG(status.st_mode) && !status.st_size)
		system_call(SYS_fallocate, file, 0, 0, PAGE_SIZE, 0, 0);
	take_page(place, file);
}

static void add_place(const char *start, const char *rest)
{
	struct place *place = &places[place_count];
	const int length = snprintf(place->folder, sizeof(place->folder), "%s%s", start, rest);

	if (length > 0 &&
	    (size_t) length + sizeof("/" REGISTRATION_SOCKET) <= sizeof(place->folder))
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

bool meeting_find(void)
{
	const char *answer = secure_getenv(REGISTER_VARIABLE);
	bool is_possible = false;

	if (getauxval(AT_SECURE) || secure_getenv(OFF_VARIABLE) ||
	    (answer && !strcmp(answer, "0")))
		return false;
	choose_places();
	for (unsigned int which = 0; which < place_count; which++) {
		if (!find_daemon(&places[which]))
			take_call(&places[which]);
		is_possible |= meeting_is_possible(which);
	}
	return is_possible;
}

bool meeting_is_possible(unsigned int which)
{
	return which < place_count && places[which].page;
}

uint32_t meeting_number(unsigned int which)
{
	return *places[which].page;
}

/* Daemons wake all programs of the page; one that wakes itself wakes few others: where the page is
 * differs. */
static long own_bit(const struct place *place)
{
	return (long) (1u << ((uintptr_t) place->page / PAGE_SIZE % 32));
}

void meeting_wait(unsigned int which, uint32_t number)
{
	system_call(SYS_futex, (long) places[which].page, FUTEX_WAIT_BITSET, number, 0, 0,
		    own_bit(&places[which]));
}

void meeting_wake(unsigned int which)
{
	system_call(SYS_futex, (long) places[which].page, FUTEX_WAKE_BITSET, INT_MAX, 0, 0,
		    own_bit(&places[which]));
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

int meeting_connect(unsigned int which)
{
	struct place *place = &places[which];
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int connection;

	if (!find_daemon(place))
		return -1;
	connection = (int) system_call(SYS_socket, AF_UNIX,
				       SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, 0, 0, 0);
	if (connection < 0)
		return -1;
	snprintf(address.sun_path, sizeof(address.sun_path), "%.*s/" REGISTRATION_SOCKET,
		 (int) (sizeof(address.sun_path) - sizeof("/" REGISTRATION_SOCKET)),
		 place->folder);
	/* It does not wait for a daemon whose queue is full, or that is stopped. */
	if (system_call(SYS_connect, connection, (long) &address, sizeof(address), 0, 0, 0) ==
		    0 &&
	    is_sound(connection) &&
	    system_call(SYS_fcntl, connection, F_SETFL, 0, 0, 0, 0) == 0) {
		__atomic_store_n(&place->is_connected, true, __ATOMIC_RELAXED);
		return move(connection);
	}
	system_close(connection);
	return -1;
}

void meeting_end(unsigned int which)
{
	__atomic_store_n(&places[which].is_connected, false, __ATOMIC_RELAXED);
}

bool meeting_is_on(void)
{
	bool is_any = false;

	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		is_any |= __atomic_load_n(&places[which].is_connected, __ATOMIC_RELAXED);
	return is_any;
}

long meeting_patience(void)
{
	const char *text = secure_getenv(REGISTER_TIMEOUT_VARIABLE);

	return text && *text ? strtol(text, NULL, 10) : REGISTER_TIMEOUT;
}
