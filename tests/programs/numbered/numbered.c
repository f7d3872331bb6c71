/*
 * Threads number their events, and tell in a mapped file how many they have made, where it is
 * seen when they were killed:
 *
 *   numbered FILE [NAME=VALUE...]
 *
 *   seed=N       of all that is random
 *   threads=N    beside the first one, which makes one event before them
 *   count=N      events of each
 *   calls=1      each with entry and exit of a function around it
 *   pause=N      microseconds of some of the pauses
 *   confined=1   each thread gives up a system call that waiting needs, once it has begun
 *   confined=2   the first thread does, so that others begin without it
 *   leave=N      from this event on, threads may not read the clock: they have no place in
 *                memory then, and the recording counts for them
 *   daemon=1     goes on in the background
 *   daemon=2     the same, and writes over its environment, as who sets a title does
 *   filler=FILE  is made as large as its file system allows, before there are threads
 *   kill=WHO     program, recorder or both, once all threads have made
 *   after=N      events together
 *
 * FILE has four numbers of 64 bits for each thread, its own ones after those of the first:
 * process, thread, events begun, events done.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "numbered.h"

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "numbered_tp.h"

#define MOST_THREADS 63
#define LONGEST_BURST 2000
#define MOST_SPINS 20000
/* One event in so many is a large one. */
#define LARGE_EACH 64
#define LARGE 2000
#define SMALL 40

struct account {
	volatile uint64_t process, thread, begun, done;
};

static struct account *accounts;
static pthread_barrier_t all_have_begun;
static uint64_t seed, count, threads, pause_us, after, leave;
static int has_calls, confined, is_daemon;
static const char *victim = "", *filler = "";
static char text[LARGE];

static uint64_t next_random(uint64_t *state)
{
	/* Marsaglia's xorshift64. */
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void require(int holds, const char *what)
{
	if (holds)
		return;
	perror(what);
	_exit(3);
}

void make_event(unsigned int place, unsigned long number, size_t length)
{
	lttng_ust_tracepoint(numbered, made, place, number, text, length);
}

static void make(unsigned int place, uint64_t number, size_t length)
{
	struct account *mine = &accounts[place];

	mine->begun = number;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	if (has_calls)
		called(place, number, length);
	else
		make_event(place, number, length);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	mine->done = number;
}

static void register_thread(unsigned int place)
{
	accounts[place].process = (uint64_t) getpid();
	accounts[place].thread = (uint64_t) syscall(SYS_gettid);
}

/* Waiting for memory is a futex that processes share, as the C library uses none here. */
static void give_up_waiting(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_futex, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, FUTEX_WAKE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "prctl");
	require(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static void rest(uint64_t *state)
{
	const uint64_t choice = next_random(state) % 8;
	const uint64_t spins = next_random(state) % MOST_SPINS;

	if (choice == 0)
		usleep((useconds_t) pause_us);
	else if (choice < 3)
		sched_yield();
	else if (choice < 5)
		for (uint64_t spin = 0; spin < spins; spin++)
			__asm__ volatile("");
}

static void *work(void *argument)
{
	const unsigned int place = (unsigned int) (uintptr_t) argument;
	uint64_t state = (seed + 1) * 0x9e3779b97f4a7c15u + place;
	uint64_t burst = 0;

	register_thread(place);
	make(place, 1, 0);
	/* Each has a place in memory before any of them may end. */
	pthread_barrier_wait(&all_have_begun);
	if (confined == 1)
		give_up_waiting();
	for (uint64_t number = 2; number <= count; number++) {
		const uint64_t random = next_random(&state);

		if (number == leave)
			require(prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0, "prctl");
		make(place, number, random % LARGE_EACH ? random % SMALL : random % LARGE);
		if (burst-- == 0) {
			burst = next_random(&state) % LONGEST_BURST;
			rest(&state);
		}
	}
	return NULL;
}

static uint64_t done_by_all(void)
{
	uint64_t sum = 0;

	for (uint64_t place = 1; place <= threads; place++)
		sum += accounts[place].done;
	return sum;
}

static void *murder(void *unused)
{
	while (done_by_all() < after)
		sched_yield();
	if (!strcmp(victim, "program"))
		kill(getpid(), SIGKILL);
	else if (!strcmp(victim, "recorder"))
		kill(getppid(), SIGKILL);
	else
		kill(0, SIGKILL);
	return unused;
}

/* Takes all memory of a file system but the rest of a page or two. */
static void fill(const char *path)
{
	const int file = open(path, O_RDWR | O_CREAT, 0600);
	struct statvfs space;
	off_t size = 0;

	require(file >= 0 && fstatvfs(file, &space) == 0, path);
	for (off_t step = (off_t) (space.f_bfree * space.f_bsize); step >= 4096; step /= 2)
		if (fallocate(file, 0, size, step) == 0)
			size += step;
	close(file);
}

static int has_name(const char *word, const char *name, const char **value)
{
	const size_t length = strlen(name);

	*value = word + length + 1;
	return !strncmp(word, name, length) && word[length] == '=';
}

static void read_words(int number, char **words)
{
	const struct {
		const char *name;
		uint64_t *value;
	} numbers[] = {{"seed", &seed},	    {"threads", &threads}, {"count", &count},
		       {"pause", &pause_us}, {"after", &after},
		       {"leave", &leave}};
	const char *value;

	for (int index = 2; index < number; index++) {
		for (size_t one = 0; one < sizeof(numbers) / sizeof(*numbers); one++)
			if (has_name(words[index], numbers[one].name, &value))
				*numbers[one].value = strtoull(value, NULL, 10);
		if (has_name(words[index], "kill", &value))
			victim = value;
		if (has_name(words[index], "filler", &value))
			filler = value;
		if (has_name(words[index], "calls", &value))
			has_calls = atoi(value);
		if (has_name(words[index], "daemon", &value))
			is_daemon = atoi(value);
		if (has_name(words[index], "confined", &value))
			confined = atoi(value);
	}
	require(threads >= 1 && threads <= MOST_THREADS && count, "threads, count");
}

int main(int number, char **words)
{
	const size_t size = (MOST_THREADS + 1) * sizeof(struct account);
	pthread_t workers[MOST_THREADS], murderer;
	const int file = number > 1 ? open(words[1], O_RDWR | O_CREAT, 0600) : -1;

	require(file >= 0 && ftruncate(file, (off_t) size) == 0, "FILE");
	accounts = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	require(accounts != MAP_FAILED, "mmap");
	close(file);
	read_words(number, words);
	memset(text, 'x', sizeof(text));
	if (is_daemon && fork() > 0)
		_exit(0);
	if (is_daemon == 2)
		for (char **variable = environ; *variable; variable++)
			memset(*variable, 0, strlen(*variable));
	register_thread(0);
	make(0, 1, 0);
	if (*filler)
		fill(filler);
	if (confined == 2)
		give_up_waiting();
	require(pthread_barrier_init(&all_have_begun, NULL, (unsigned int) threads) == 0, "barrier");
	if (*victim)
		require(pthread_create(&murderer, NULL, murder, NULL) == 0, "pthread_create");
	for (uint64_t place = 1; place <= threads; place++)
		require(pthread_create(&workers[place - 1], NULL, work,
				       (void *) (uintptr_t) place) == 0, "pthread_create");
	for (uint64_t place = 1; place <= threads; place++)
		pthread_join(workers[place - 1], NULL);
	return 0;
}
