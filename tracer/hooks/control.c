/*
 * The thread that takes orders from a session daemon.
 *
 * It is there only where a daemon is, or has been. It says who the program is, and does what it
 * is told: record this, record nothing, say which events there are. When the daemon goes, the
 * program goes on as it was told last, and the thread waits for the next daemon, on a page of
 * memory, at no cost.
 */
#define _GNU_SOURCE
#include "control.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "../agreement/registration.h"
#include "../arena/layout.h"
#include "../base/process.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "event_list.h"
#include "meeting.h"
#include "recording.h"
#include "settings_words.h"
#include "tracing.h"

/* What is done here reads files and compares names: paths and names are on the stack. */
#define STACK_SIZE (256u << 10)
#define THREAD_NAME "vestige-control"
#define MILLISECOND 1000000
/* Of a millisecond, for the thread to end. */
#define MOST_LOOKS 50

/* A request, with room for the zero at the end of its words. */
static struct {
	struct message_head head;
	union {
		struct message_record record;
		struct message_stop stop;
	};
	char words[LARGEST_WORDS + 1];
} request;
static struct wanted wanted;
/* The rules that were given last, as they are used. */
static struct rules {
	const char *bytes;
	size_t size;
} known_rules[CHANNELS];
/* How many were given, ever. */
static unsigned int rules_count;

/* To the daemon; negative: to none. */
static int connection = -1;
/* Of the socket: a program that closes all descriptors may have another file there. */
static ino_t connection_inode;
/* Not zero as soon as the program may begin. */
static atomic_uint may_begin;
static atomic_bool is_leaving;
/* Whether the thread runs, in this process. */
static atomic_bool is_there;

/* Whether the descriptor is still ours. */
static bool is_connected(void)
{
	struct stat status;

	return connection >= 0 && !atomic_load(&is_leaving) &&
		system_fstat(connection, &status) && S_ISSOCK(status.st_mode) &&
		status.st_ino == connection_inode;
}

static bool send_message(void *message, uint16_t kind, size_t size, uint32_t status)
{
	struct message_head *head = message;

	*head = (struct message_head) {
		.kind = kind,
		.version = REGISTRATION_VERSION,
		.size = (uint32_t) size,
		.generation = request.head.generation,
		.status = status,
	};
	return is_connected() &&
		system_call(SYS_sendto, connection, (long) message, (long) size, MSG_NOSIGNAL, 0,
			    0) == (long) size;
}

static bool say_hello(void)
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

	recording_tell(message.hello.arenas);
	strncpy(message.hello.name, program_invocation_short_name,
		sizeof(message.hello.name) - 1);
	return send_message(&message, MESSAGE_HELLO, sizeof(message), 0);
}

static void begin_program(void)
{
	atomic_store(&may_begin, 1);
	system_wake(&may_begin);
}

/* Take a message; the file that comes with it, or negative. False at the end. */
static bool receive(long *size, int *file)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct iovec data = {.iov_base = &request, .iov_len = sizeof(request) - 1};
	struct msghdr message = {
		.msg_iov = &data,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};

	*file = -1;
	do {
		if (!is_connected())
			return false;
		*size = system_call(SYS_recvmsg, connection, (long) &message, MSG_CMSG_CLOEXEC, 0,
				    0, 0);
	} while (*size == -EINTR);
	if (*size > 0 && message.msg_controllen >= CMSG_LEN(sizeof(*file)) &&
	    control.head.cmsg_level == SOL_SOCKET && control.head.cmsg_type == SCM_RIGHTS &&
	    control.head.cmsg_len == CMSG_LEN(sizeof(*file)))
		memcpy(file, CMSG_DATA(&control.head), sizeof(*file));
	return *size >= (long) sizeof(request.head) && request.head.size == (uint32_t) *size &&
		request.head.version == REGISTRATION_VERSION;
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

static enum joining_status record_this(long size, int file)
{
	const size_t head = sizeof(request.head) + sizeof(request.record);
	struct rules rules;

	if (size < (long) head || request.record.words_size != (size_t) size - head ||
	    !read_rules(file, request.record.rules_size, &rules))
		return JOINING_FAILED;
	request.words[request.record.words_size] = '\0';
	memset(&wanted, 0, sizeof(wanted));
	if (!settings_words_parse(request.words, &wanted))
		return JOINING_FAILED;
	return recording_begin(&wanted, rules.bytes, rules.size);
}

static enum joining_status stop_or_dump(long size)
{
	if (size != (long) (sizeof(request.head) + sizeof(request.stop)))
		return JOINING_FAILED;
	if (request.head.kind == MESSAGE_STOP)
		recording_end(request.stop.arena);
	else
		recording_dump(request.stop.arena);
	return JOINING_DONE;
}

static bool send_events(void)
{
	struct event_list list;
	bool is_sent = true;

	/* Nobody waits for a daemon that does not read. */
	if (!event_list_make(&list, request.head.status))
		return false;
	for (size_t at = 0; is_sent && at < list.used;) {
		struct message_head *head = (void *) (list.bytes + at);
		const uint32_t length = head->size;

		is_sent = send_message(head, head->kind, length, 0);
		at += length;
	}
	event_list_free(&list);
	return is_sent;
}

/* Do what is asked for; false at the end of the talk. */
static bool serve(void)
{
	enum joining_status status = JOINING_DONE;
	long size;
	int file;

	if (!receive(&size, &file)) {
		if (file >= 0)
			system_close(file);
		return false;
	}
	switch (request.head.kind) {
	case MESSAGE_RECORD:
		status = record_this(size, file);
		break;
	case MESSAGE_STOP:
	case MESSAGE_DUMP:
		status = stop_or_dump(size);
		break;
	case MESSAGE_LIST:
		if (!send_events())
			status = JOINING_FAILED;
		break;
	case MESSAGE_GO:
		begin_program();
		break;
	default:
		status = JOINING_FAILED;
	}
	if (file >= 0)
		system_close(file);
	if (request.head.kind == MESSAGE_GO)
		return true;
	return send_message(&request, MESSAGE_DONE, sizeof(request.head), status);
}

static void close_connection(void)
{
	if (is_connected())
		system_close(connection);
	connection = -1;
}

static void talk(void)
{
	struct stat status;

	connection = meeting_connect();
	if (connection < 0 || !system_fstat(connection, &status))
		return;
	connection_inode = status.st_ino;
	request.head.generation = 0;
	if (say_hello())
		while (serve())
			;
	close_connection();
}

static void *take_orders(void *unused)
{
	(void) unused;
	system_call(SYS_prctl, PR_SET_NAME, (long) THREAD_NAME, 0, 0, 0, 0);
	while (!atomic_load(&is_leaving)) {
		const uint32_t number = meeting_number();

		talk();
		begin_program();
		if (!atomic_load(&is_leaving))
			meeting_wait(number);
	}
	atomic_store(&is_there, false);
	return NULL;
}

/* Wait until a daemon has said what is recorded, if there is one. */
static void wait_for_orders(void)
{
	const long patience = meeting_patience();
	const struct timespec limit = {patience / 1000, patience % 1000 * MILLISECOND};

	if (patience && !atomic_load(&may_begin))
		system_call(SYS_futex, (long) &may_begin, FUTEX_WAIT_PRIVATE, 0,
			    patience < 0 ? 0 : (long) &limit, 0, 0);
}

static void start_thread(void)
{
	pthread_attr_t attributes;
	pthread_t thread;
	sigset_t all;
	sigset_t before;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	sigfillset(&all);
	/* But those of the C library itself, which it needs for setuid() and the like. */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	atomic_store(&is_there, true);
	if (pthread_create(&thread, &attributes, take_orders, NULL) != 0)
		atomic_store(&is_there, false);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

/* A child process is another program to the daemon; it goes on recording meanwhile. */
static void after_fork(void)
{
	if (!atomic_load(&is_there))
		return;
	/* The parent has it still. */
	close_connection();
	start_thread();
}

void control_leave(void)
{
	static const struct timespec pause = {.tv_nsec = MILLISECOND};

	if (atomic_exchange(&is_leaving, true) || !atomic_load(&is_there))
		return;
	if (connection >= 0)
		system_call(SYS_shutdown, connection, SHUT_RDWR, 0, 0, 0, 0);
	/* One that waits for another daemon makes no system call any more, until there is one. */
	for (int looks = 0; looks < MOST_LOOKS && atomic_load(&is_there); looks++)
		system_sleep(&pause);
}

/* After the one that begins to trace. */
static __attribute__((constructor(102))) void start(void)
{
	tracing_start();
	if (!tracing_is_expected())
		return;
	pthread_atfork(NULL, NULL, after_fork);
	start_thread();
	if (atomic_load(&is_there))
		wait_for_orders();
}
