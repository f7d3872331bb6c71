/*
 * A small collector for tests of the tracer: makes an arena, runs a program, and drains it.
 *
 *   collector OUT [NAME=VALUE...] -- PROGRAM...
 *
 * The words for the tracer, but those of the arena, are in VESTIGE_TRACER. OUT has a file for
 * each use of a slot, in whole packets, and `classes` with the text of all classes. What was
 * seen is in `.facts` as `name value` lines. It trusts the program.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>

#include "maker.h"

static struct wanted wanted = {
	.chunk = 65536,
	.chunks = 1024,
	.ring = 64,
	.slots = 1024,
	.wait_ms = 10000,
};
static struct {
	long delay_us, stall, die_ms, linger_ms, kill_ms, keep;
	const char *socket, *path, *place, *token;
} options = {.linger_ms = 3000, .place = "/dev/shm"};

/* What is known of a slot, and of chunks. */
struct own {
	uint64_t drained, last_end, told, sequence;
	int file;
};

static struct own *owns;
static bool *is_aside;
static const char *out;
static unsigned char token[16];
static struct {
	unsigned long packets, ended, lost, bytes, doubtful, kept;
} seen;
static volatile bool is_over;

static long wake(_Atomic uint32_t *word)
{
	return syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t) now.tv_sec * 1000 + (uint64_t) now.tv_nsec / 1000000;
}

static void write_packet(uint32_t slot, struct packet *packet, const void *records, size_t size)
{
	struct own *own = &owns[slot];
	char name[4096];

	if (own->file < 0) {
		snprintf(name, sizeof(name), "%s/%u-%u.%u", out, slot, slot_at(slot)->vpid,
			 LOAD(ledger_at(slot)->generation));
		own->file = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	}
	packet->magic = PACKET_MAGIC;
	memcpy(packet->uuid, control->uuid, 16);
	packet->stream_id = STREAM_CLASS;
	packet->stream_instance_id = (uint64_t) slot << 32 | LOAD(ledger_at(slot)->generation);
	packet->content_size = packet->packet_size = (sizeof(*packet) + size) * 8;
	packet->packet_seq_num = own->sequence++;
	if (write(own->file, packet, sizeof(*packet)) != sizeof(*packet) ||
	    write(own->file, records, size) != (ssize_t) size)
		exit(92);
	own->last_end = packet->timestamp_end;
	seen.packets++;
	seen.bytes += size;
}

/* An empty packet that tells losses; the first of a stream cannot tell any. */
static void tell_losses(uint32_t slot, const struct packet *like, uint64_t first, uint64_t last,
			uint64_t count)
{
	struct own *own = &owns[slot];
	struct packet packet = *like;

	packet.timestamp_begin = first > own->last_end ? first : own->last_end;
	packet.timestamp_end = last > packet.timestamp_begin ? last : packet.timestamp_begin;
	if (!own->sequence) {
		packet.timestamp_end = packet.timestamp_begin;
		packet.events_discarded = 0;
		write_packet(slot, &packet, NULL, 0);
		packet.timestamp_end = last > first ? last : first;
	}
	packet.events_discarded = count;
	own->told = count;
	write_packet(slot, &packet, NULL, 0);
}

static void drain_chunk(uint32_t slot, uint32_t number)
{
	const struct arena_chunk *chunk = chunk_at(number);
	struct own *own = &owns[slot];
	struct packet packet = chunk->packet;
	const uint32_t size = __atomic_load_n(&chunk->committed, __ATOMIC_ACQUIRE);

	if (size < sizeof(*chunk) || size > control->chunk_bytes)
		exit(93);
	if (packet.timestamp_end < chunk->least_end)
		packet.timestamp_end = chunk->least_end;
	if (chunk->first_lost)
		tell_losses(slot, &packet, chunk->first_lost, chunk->last_lost, chunk->lost);
	seen.doubtful += (chunk->flags & CHUNK_DOUBTFUL) != 0;
	seen.kept += (chunk->flags & CHUNK_KEEP) != 0;
	packet.events_discarded = chunk->lost;
	if (packet.events_discarded && !own->sequence) {
		struct packet none = packet;

		none.timestamp_end = none.timestamp_begin;
		none.events_discarded = 0;
		write_packet(slot, &none, NULL, 0);
	}
	own->told = packet.events_discarded;
	write_packet(slot, &packet, chunk + 1, size - sizeof(*chunk));
	own->drained = LOAD(chunk->seq);
	if (options.delay_us)
		usleep((useconds_t) options.delay_us);
}

static void recycle(uint32_t slot, uint32_t number, bool is_dead)
{
	struct arena_chunk *chunk = chunk_at(number);
	struct arena_ledger *ledger = ledger_at(slot);
	const bool is_doubtful = chunk->flags & CHUNK_DOUBTFUL;

	chunk->committed = 0;
	if (is_doubtful) {
		/* For as long as the arena lasts. */
		is_aside[number] = true;
		STORE(chunk->owner, 0);
		STORE(ledger->returned, LOAD(ledger->returned) + 1);
	} else if (is_dead) {
		push_chunk(number);
		STORE(ledger->returned, LOAD(ledger->returned) + 1);
	} else {
		STORE(ledger->spares[LOAD(ledger->given) % ARENA_SPARES], number);
		STORE(ledger->given, LOAD(ledger->given) + 1);
	}
	atomic_fetch_add(&ledger->consumed, 1);
	atomic_fetch_add(&control->progress, 1);
	if (LOAD(slot_at(slot)->waiting))
		wake(&ledger->consumed);
}

static uint64_t find_untold(uint32_t slot, uint64_t cur)
{
	for (uint32_t number = 1; number <= control->chunk_count; number++) {
		const struct arena_chunk *chunk = chunk_at(number);

		if (!is_aside[number] && LOAD(chunk->owner) == slot &&
		    LOAD(chunk->seq) == (cur >> 32) + 1 && chunk->committed >= sizeof(*chunk))
			return LOAD(chunk->seq) << 32 | number;
	}
	return cur;
}

static bool drain(uint32_t slot, bool is_dead)
{
	struct own *own = &owns[slot];
	uint64_t cur = LOAD(slot_at(slot)->cur);
	uint32_t list[4096];
	uint32_t count = 0;
	uint64_t seq;

	if (is_dead)
		cur = find_untold(slot, cur);
	seq = cur >> 32;
	for (uint32_t number = (uint32_t) cur; seq > own->drained;
	     seq--, number = chunk_at(number)->prev)
		if (seq != cur >> 32 || is_dead)
			list[count++] = number;
	for (uint32_t place = count; place; place--) {
		drain_chunk(slot, list[place - 1]);
		recycle(slot, list[place - 1], is_dead);
	}
	return count;
}

static void end_slot(uint32_t number)
{
	struct arena_slot *slot = slot_at(number);
	struct arena_ledger *ledger = ledger_at(number);
	struct own *own = &owns[number];
	struct packet packet = {.vpid = slot->vpid, .vtid = slot->vtid};

	drain(number, true);
	memcpy(packet.procname, slot->procname, sizeof(packet.procname));
	if (LOAD(slot->lost) > own->told)
		tell_losses(number, &packet, LOAD(slot->first_lost), LOAD(slot->last_lost),
			    LOAD(slot->lost));
	seen.lost += LOAD(slot->lost);
	seen.ended++;
	for (uint32_t chunk = 1; chunk <= control->chunk_count; chunk++)
		if (!is_aside[chunk] && LOAD(chunk_at(chunk)->owner) == number)
			push_chunk(chunk);
	if (own->file >= 0)
		close(own->file);
	*own = (struct own) {.file = -1};
	const uint32_t generation = LOAD(ledger->generation) + 1;
	memset(ledger, 0, sizeof(*ledger));
	STORE(ledger->generation, generation);
	memset(slot, 0, sizeof(*slot));
	make_robust(&slot->life.mutex);
	stack_push(&shared->free_slots, slot_place, NULL, number);
}

/* Whether anything was done; how many slots live. */
static bool pass(unsigned int *live, bool is_last)
{
	uint32_t most = LOAD(shared->slots_high) + 1;
	bool is_any = false;

	*live = 0;
	if (most > control->slot_count)
		most = control->slot_count;
	for (uint32_t number = 1; number <= most; number++) {
		struct arena_slot *slot = slot_at(number);

		if (!LOAD(slot->claimed))
			continue;
		if (is_last || LOAD(slot->life.word) & FUTEX_OWNER_DIED) {
			end_slot(number);
			is_any = true;
			continue;
		}
		++*live;
		is_any |= drain(number, false);
	}
	return is_any;
}

static void *collect(void *argument)
{
	const struct timespec slice = {0, 1000000};
	const uint64_t start = milliseconds();
	uint64_t over = 0;
	unsigned int live;

	(void) argument;
	pthread_mutex_lock(&control->life.mutex);
	for (;;) {
		uint32_t bell = LOAD(shared->doorbell);

		if (options.die_ms && milliseconds() - start >= (uint64_t) options.die_ms)
			return NULL;
		if (options.stall ? usleep(1000) : pass(&live, false))
			continue;
		if (options.stall)
			live = 0;
		if (is_over && !over)
			over = milliseconds();
		else if (is_over &&
			 (!live || milliseconds() - over > (uint64_t) options.linger_ms))
			break;
		STORE(shared->asleep, 1);
		syscall(SYS_futex, &shared->doorbell, FUTEX_WAIT, bell, &slice, NULL, 0);
		STORE(shared->asleep, 0);
	}
	return NULL;
}

/* Give the arena to whoever knows the token. */
static void *serve(void *argument)
{
	const int listener = *(int *) argument;

	for (;;) {
		const int peer = accept(listener, NULL, NULL);
		unsigned char asked[sizeof(token)];
		char room[CMSG_SPACE(sizeof(int))] = {0};
		struct iovec data = {.iov_base = "", .iov_len = 1};
		struct msghdr message = {.msg_iov = &data,
					 .msg_iovlen = 1,
					 .msg_control = room,
					 .msg_controllen = sizeof(room)};
		struct cmsghdr *head = CMSG_FIRSTHDR(&message);
		struct ucred who;
		socklen_t size = sizeof(who);

		/* A program takes only a file of its user. */
		if (!options.keep && !getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &who, &size) &&
		    fchown(arena_file, who.uid, (gid_t) -1))
			exit(96);
		if (recv(peer, asked, sizeof(asked), MSG_WAITALL) == sizeof(asked) &&
		    !memcmp(asked, token, sizeof(token))) {
			head->cmsg_level = SOL_SOCKET;
			head->cmsg_type = SCM_RIGHTS;
			head->cmsg_len = CMSG_LEN(sizeof(int));
			memcpy(CMSG_DATA(head), &arena_file, sizeof(int));
			sendmsg(peer, &message, MSG_NOSIGNAL);
		}
		close(peer);
	}
	return NULL;
}

static void listen_to(const char *name)
{
	static int listener;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	pthread_t thread;

	strcpy(address.sun_path + 1, name);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(listener, (void *) &address,
		 (socklen_t) (offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) ||
	    listen(listener, 64))
		exit(94);
	pthread_create(&thread, NULL, serve, &listener);
}

static void write_classes(void)
{
	const struct arena_class *classes = (void *) (base + control->classes_at);
	const char *text = (const char *) (classes + ARENA_MOST_CLASSES);
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s/.classes", out);
	file = fopen(name, "w");
	for (uint32_t place = 0; place < LOAD(shared->class_count); place++)
		fprintf(file, "\nevent {\n\tid = %u;\n%.*s};\n", EVENT_CLASSES + place,
			(int) classes[place].text_size, text + classes[place].text_at);
	fclose(file);
}

static void write_facts(int status)
{
	const unsigned long facts[] = {
		(unsigned long) (WIFEXITED(status) ? WEXITSTATUS(status)
						   : 128 + WTERMSIG(status)),
		seen.packets,
		seen.bytes,
		seen.ended,
		seen.lost,
		LOAD(shared->lost),
		seen.doubtful,
		seen.kept,
		LOAD(shared->class_count),
		LOAD(shared->slots_high),
	};
	static const char *const names[] = {
		"status",      "packets",  "bytes", "slots",   "lost",
		"shared_lost", "doubtful", "kept",  "classes", "highest",
	};
	char name[4096];
	FILE *file;

	snprintf(name, sizeof(name), "%s/.facts", out);
	file = fopen(name, "w");
	for (size_t index = 0; index < sizeof(facts) / sizeof(*facts); index++)
		fprintf(file, "%s %lu\n", names[index], facts[index]);
	fclose(file);
}

static void parse(char *word)
{
	static const struct {
		const char *name;
		long *value;
	} numbers[] = {
		{"chunk", &wanted.chunk},
		{"chunks", &wanted.chunks},
		{"ring", &wanted.ring},
		{"slots", &wanted.slots},
		{"wait-ms", &wanted.wait_ms},
		{"delay-us", &options.delay_us},
		{"stall", &options.stall},
		{"overwrite", &wanted.overwrite},
		{"state", &wanted.state},
		{"die-ms", &options.die_ms},
		{"fingerprint", &wanted.fingerprint},
		{"linger-ms", &options.linger_ms},
		{"kill-ms", &options.kill_ms},
		{"keep", &options.keep},
	};
	static const struct {
		const char *name;
		const char **value;
	} texts[] = {
		{"socket", &options.socket}, {"rules", &wanted.rules},  {"path", &options.path},
		{"place", &options.place},   {"token", &options.token},
	};
	char *value = strchr(word, '=');

	if (!value)
		exit(95);
	*value++ = '\0';
	for (size_t index = 0; index < sizeof(numbers) / sizeof(*numbers); index++)
		if (!strcmp(numbers[index].name, word))
			*numbers[index].value = strtol(value, NULL, 10);
	for (size_t index = 0; index < sizeof(texts) / sizeof(*texts); index++)
		if (!strcmp(texts[index].name, word))
			*texts[index].value = value;
}

static pid_t start(char **command, const char *name)
{
	const char *path = options.path ? options.path : name;
	struct stat status;
	char words[8192];
	char hex[2 * sizeof(token) + 1];
	pid_t child;

	fstat(arena_file, &status);
	for (size_t index = 0; index < sizeof(token); index++)
		sprintf(hex + 2 * index, "%02x", token[index]);
	snprintf(words, sizeof(words),
		 "%s arena=%s arena-id=%lu socket=%s token=%s directory=/nowhere",
		 getenv("VESTIGE_TRACER"), path, (unsigned long) status.st_ino,
		 options.socket ? options.socket : "", options.token ? options.token : hex);
	child = fork();
	if (child)
		return child;
	setenv("VESTIGE_TRACER", words, 1);
	setenv("LD_PRELOAD", getenv("TRACER_LIBRARY"), 1);
	execvp(command[0], command);
	_exit(127);
}

int main(int argc, char **argv)
{
	char name[4096];
	unsigned int live;
	pthread_t thread;
	int word = 2;
	int status;
	pid_t child;

	out = argv[1];
	for (; word < argc && strcmp(argv[word], "--"); word++)
		parse(argv[word]);
	snprintf(name, sizeof(name), "%s/vestige-test-%d", options.place, getpid());
	for (size_t index = 0; index < sizeof(token); index++)
		token[index] = (unsigned char) (index * 7 + 1);
	make_arena(name, &wanted);
	owns = calloc((size_t) wanted.slots + 1, sizeof(*owns));
	is_aside = calloc((size_t) wanted.chunks + 1, sizeof(*is_aside));
	for (long slot = 0; slot <= wanted.slots; slot++)
		owns[slot].file = -1;
	if (options.socket)
		listen_to(options.socket);
	/* Those that are left when their parents end are ours, and are waited for. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	child = start(argv + word + 1, name);
	pthread_create(&thread, NULL, collect, NULL);
	if (options.kill_ms) {
		usleep((useconds_t) options.kill_ms * 1000);
		kill(child, SIGKILL);
	}
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	is_over = true;
	pthread_join(thread, NULL);
	while (pass(&live, true))
		;
	write_classes();
	unlink(name);
	write_facts(status);
	return 0;
}
