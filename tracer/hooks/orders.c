/* The talk with a session daemon: it is told who the program is, and what it asks for is done. */
#define _GNU_SOURCE
#include "orders.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../agreement/registration.h"
#include "../arena/layout.h"
#include "../base/lock.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "event_list.h"
#include "meeting.h"
#include "recording.h"
#include "settings_words.h"
#include "telling.h"
#include "watching.h"

/* That come with a message. */
#define MOST_FILES 3u

_Static_assert(MOST_MEETINGS == WATCH_SOURCES, "each daemon has rules of triggers");

/* With one daemon. */
static struct talk {
	/* Of the daemon. */
	unsigned int which;
	/* To it; negative: to none. */
	int connection;
	/* Of the socket: a program that closes all descriptors may have another file there. */
	ino_t inode;
	/* A request, with room for the zero at the end of its words. */
	struct {
		struct message_head head;
		union {
			struct message_record record;
			struct message_stop stop;
		};
		char words[LARGEST_WORDS + 1];
	} request;
} talks[MOST_MEETINGS] = {{.connection = -1}, {.which = 1, .connection = -1}};

/* Of all that recordings are: one daemon at a time. */
static struct lock turn;
/* The rules that were given last, as they are used. */
static struct rules {
	const char *bytes;
	size_t size;
} known_rules[CHANNELS];
/* How many were given, ever. */
static unsigned int rules_count;
static atomic_bool is_leaving;

/* Whether the descriptor is still ours. */
static bool is_connected(const struct talk *talk)
{
	struct stat status;

	return talk->connection >= 0 && !atomic_load(&is_leaving) &&
		system_fstat(talk->connection, &status) && S_ISSOCK(status.st_mode) &&
		status.st_ino == talk->inode;
}

static bool send_message(const struct talk *talk, void *message, uint16_t kind, size_t size,
			 uint32_t status)
{
	struct message_head *head = message;

	*head = (struct message_head) {
		.kind = kind,
		.version = REGISTRATION_VERSION,
		.size = (uint32_t) size,
		.generation = talk->request.head.generation,
		.status = status,
	};
	return is_connected(talk) &&
		system_call(SYS_sendto, talk->connection, (long) message, (long) size,
			    MSG_NOSIGNAL, 0, 0) == (long) size;
}

static bool say_hello(const struct talk *talk)
{
	struct {
		struct message_head head;
		struct message_hello hello;
	} message = {
		.hello =
			{
				.fingerprint = arena_fingerprint(),
				.pid_namespace = process_pid_namespace(),
				.vpid = process_id(),
				.bits = 8 * sizeof(void *),
			},
	};

	lock_take(&turn);
	recording_tell(talk->which, message.hello.arenas);
	lock_release(&turn);
	strncpy(message.hello.name, program_invocation_short_name,
		sizeof(message.hello.name) - 1);
	return send_message(talk, &message, MESSAGE_HELLO, sizeof(message), 0);
}

/* Take a message, and the files that come with it, or negative numbers. False at the end. */
static bool receive(struct talk *talk, long *size, int files[MOST_FILES])
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(MOST_FILES * sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec data = {.iov_base = &talk->request, .iov_len = sizeof(talk->request) - 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	for (unsigned int index = 0; index < MOST_FILES; index++)
		files[index] = -1;
	do {
		if (!is_connected(talk))
			return false;
		*size = system_call(SYS_recvmsg, talk->connection, (long) &message,
				    MSG_CMSG_CLOEXEC, 0, 0, 0);
	} while (*size == -EINTR);
	if (*size > 0 && message.msg_controllen >= CMSG_LEN(sizeof(int)) &&
	    control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS &&
	    control.head.cmsg_len >= CMSG_LEN(sizeof(int)) &&
	    control.head.cmsg_len <= CMSG_LEN(MOST_FILES * sizeof(int)))
		memcpy(files, CMSG_DATA(&control.head), control.head.cmsg_len - CMSG_LEN(0));
	return *size >= (long) sizeof(talk->request.head) &&
		talk->request.head.size == (uint32_t) *size &&
		talk->request.head.version == REGISTRATION_VERSION;
}

/* Read the rules to memory that stays, since filters refer to it; the same as before need none. */
static bool read_rules(int file, size_t size, struct rules *rules)
{
	char *made;

	if (!size || size > LARGEST_RULES || file < 0)
		return false;
	made = system_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!made)
		return false;
	if (!system_pread_all(file, made, size, 0)) {
		system_munmap(made, size);
		return false;
	}
	for (unsigned int index = 0; index < CHANNELS; index++) {
		*rules = known_rules[index];
		if (!rules->bytes || size != rules->size || memcmp(made, rules->bytes, size) != 0)
			continue;
		system_munmap(made, size);
		return true;
	}
	*rules = (struct rules) {made, size};
	known_rules[rules_count++ % CHANNELS] = *rules;
	return true;
}

static enum joining_status record_this(struct talk *talk, long size, int file)
{
	/* It is too long for the stack. */
	static struct wanted wanted;
	const size_t head = sizeof(talk->request.head) + sizeof(talk->request.record);
	const struct message_record *record = &talk->request.record;
	struct rules rules;

	if (size < (long) head || record->words_size != (size_t) size - head ||
	    !read_rules(file, record->rules_size, &rules))
		return JOINING_FAILED;
	talk->request.words[record->words_size] = '\0';
	memset(&wanted, 0, sizeof(wanted));
	if (!settings_words_parse(talk->request.words, &wanted))
		return JOINING_FAILED;
	return recording_begin(talk->which, &wanted, rules.bytes, rules.size,
			       talk->request.head.status);
}

static enum joining_status stop_or_dump(const struct talk *talk, long size)
{
	const uint64_t arena = talk->request.stop.arena;

	if (size != (long) (sizeof(talk->request.head) + sizeof(talk->request.stop)))
		return JOINING_FAILED;
	if (talk->request.head.kind == MESSAGE_STOP)
		recording_end(talk->which, arena);
	else
		recording_dump(talk->which, arena);
	return JOINING_DONE;
}

static enum joining_status watch(const struct talk *talk, long size, const int *files)
{
	const char *body = (const char *) &talk->request + sizeof(talk->request.head);
	struct message_watch message;

	if (size != (long) (sizeof(talk->request.head) + sizeof(message)))
		return JOINING_FAILED;
	/* It is longer than what words follow. */
	memcpy(&message, body, sizeof(message));
	return watching_take(talk->which, &message, files[0], files[1], files[2]);
}

static bool send_events(const struct talk *talk)
{
	struct event_list list;
	bool is_sent = true;

	/* Nobody waits for a daemon that does not read. */
	if (!event_list_make(&list, talk->request.head.status))
		return false;
	for (size_t at = 0; is_sent && at < list.used;) {
		struct message_head *head = (void *) (list.bytes + at);
		const uint32_t length = head->size;

		is_sent = send_message(talk, head, head->kind, length, 0);
		at += length;
	}
	event_list_free(&list);
	return is_sent;
}

/* Do what is asked for. */
static enum joining_status do_order(struct talk *talk, long size, const int *files)
{
	enum joining_status status = JOINING_FAILED;

	if (talk->request.head.kind == MESSAGE_LIST)
		return send_events(talk) ? JOINING_DONE : JOINING_FAILED;
	lock_take(&turn);
	if (talk->request.head.kind == MESSAGE_RECORD)
		status = record_this(talk, size, files[0]);
	else if (talk->request.head.kind == MESSAGE_WATCH)
		status = watch(talk, size, files);
	else if (talk->request.head.kind == MESSAGE_STOP ||
		 talk->request.head.kind == MESSAGE_DUMP)
		status = stop_or_dump(talk, size);
	lock_release(&turn);
	return status;
}

/* Take an order, and answer; false at the end of the talk. */
static bool serve(struct talk *talk, orders_begin_function *begin)
{
	enum joining_status status = JOINING_FAILED;
	int files[MOST_FILES];
	long size;
	const bool is_order = receive(talk, &size, files);
	const bool is_go = is_order && talk->request.head.kind == MESSAGE_GO;

	if (is_go)
		begin(talk->which);
	else if (is_order)
		status = do_order(talk, size, files);
	for (unsigned int index = 0; index < MOST_FILES; index++)
		if (files[index] >= 0)
			system_close(files[index]);
	return is_go ||
		(is_order &&
		 send_message(talk, &talk->request, MESSAGE_DONE, sizeof(talk->request.head),
			      status));
}

static void close_connection(struct talk *talk)
{
	if (is_connected(talk))
		system_close(talk->connection);
	talk->connection = -1;
	meeting_end(talk->which);
}

void orders_take(unsigned int which, orders_begin_function *begin)
{
	struct talk *talk = &talks[which];
	struct stat status;

	talk->connection = meeting_connect(which);
	if (talk->connection < 0 || !system_fstat(talk->connection, &status)) {
		meeting_end(which);
		return;
	}
	talk->inode = status.st_ino;
	talk->request.head.generation = 0;
	if (say_hello(talk))
		while (serve(talk, begin))
			;
	close_connection(talk);
	lock_take(&turn);
	watching_end(which);
	lock_release(&turn);
}

void orders_after_fork(void)
{
	/* Of a thread that is not here. */
	atomic_store(&turn.state, 0);
	/* The parent has them still. */
	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		close_connection(&talks[which]);
}

bool orders_are_ending(void)
{
	return atomic_load(&is_leaving);
}

bool orders_end(void)
{
	if (atomic_exchange(&is_leaving, true))
		return false;
	telling_stop();
	for (unsigned int which = 0; which < MOST_MEETINGS; which++)
		if (talks[which].connection >= 0)
			system_call(SYS_shutdown, talks[which].connection, SHUT_RDWR, 0, 0, 0, 0);
	return true;
}
