/*
 * Waits for a session daemon, in a program that has started before there ever was one.
 *
 * A thread with all signals blocked sleeps on a page of memory that all programs of a user share:
 * a daemon changes a number there and wakes them. Meanwhile it costs nothing.
 *
 * SPDX-License-Identifier: MIT
 */
#define _GNU_SOURCE
#include "waiting.h"

#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../agreement/registration.h"
#include "tracer_path.h"

/* Before glibc 2.34, programs that do not link libpthread have none of them: they do not wait. */
#pragma weak pthread_create
#pragma weak pthread_attr_init
#pragma weak pthread_attr_setstacksize
#pragma weak pthread_attr_destroy
#pragma weak pthread_detach
#pragma weak pthread_sigmask
#pragma weak pthread_timedjoin_np

#define PAGE_SIZE 4096
#define SHARED_MEMORY "/dev/shm/"
/* Loading needs names of files, and what constructors take. */
#define STACK_SIZE (256u << 10)
#define THREAD_NAME "vestige-wait"
#define NANOSECONDS 1000000000L
/* For the thread to end: it may be in the middle of loading, for which it needs what we may hold. */
#define MOST_LOOKS 50
#define LOOK 20000000L

static const volatile uint32_t *page;
/* Whether the thread is there: a child process needs another one. */
static bool is_waiting;
/* Whether somebody is yet to take its end: itself, or who wants to see it. */
static bool is_joinable;
static bool is_ending;
static pthread_t waiting_thread;
/* In which it is. */
static pid_t waiting_process;
/* What begins with the tracer. */
static void (*begin_with_tracer)(void);

/* Map the page of this user, which is made where it is not there. */
static bool open_page(void)
{
	char path[sizeof(SHARED_MEMORY REGISTRATION_CALL) + 12];
	void *mapped = MAP_FAILED;
	struct stat status;
	int file;

	snprintf(path, sizeof(path), SHARED_MEMORY REGISTRATION_CALL "%u",
		 (unsigned int) geteuid());
	file = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	if (file < 0)
		return false;
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
	    /* With its memory: reading a page that cannot be made ends the program. */
	    (status.st_size || fallocate(file, 0, 0, PAGE_SIZE) == 0))
		mapped = mmap(NULL, sizeof(*page), PROT_READ, MAP_SHARED, file, 0);
	close(file);
	if (mapped == MAP_FAILED)
		return false;
	page = mapped;
	return true;
}

/* Daemons wake all programs; who ends this thread wakes few others: where the page is differs. */
static uint32_t own_bit(void)
{
	return 1u << ((uintptr_t) page / PAGE_SIZE % 32);
}

/* False when it is to end before there is a tracer. */
static bool wait_for_tracer(void)
{
	while (!__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST)) {
		const uint32_t number = *page;

		if (vestige_link_load_tracer())
			return true;
		if (__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST))
			break;
		syscall(SYS_futex, page, FUTEX_WAIT_BITSET, number, NULL, NULL, own_bit());
	}
	return false;
}

static void *wait_for_daemon(void *unused)
{
	bool is_there;

	(void) unused;
	prctl(PR_SET_NAME, THREAD_NAME);
	is_there = wait_for_tracer();
	/* Before a child process could be made without it. */
	is_waiting = false;
	if (is_there)
		begin_with_tracer();
	if (__atomic_exchange_n(&is_joinable, false, __ATOMIC_SEQ_CST))
		pthread_detach(pthread_self());
	return NULL;
}

static void start_thread(void)
{
	pthread_attr_t attributes;
	sigset_t all;
	sigset_t before;

	if (pthread_attr_init(&attributes) != 0)
		return;
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	is_waiting = true;
	is_joinable = true;
	waiting_process = getpid();
	if (pthread_create(&waiting_thread, &attributes, wait_for_daemon, NULL) != 0) {
		is_waiting = false;
		is_joinable = false;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
}

static void after_fork(void)
{
	is_joinable = false;
	if (is_waiting && !is_ending)
		start_thread();
}

void vestige_link_end_waiting(void)
{
	/* A child of vfork() has the memory of another process, whose thread goes on. */
	if (__atomic_load_n(&is_joinable, __ATOMIC_SEQ_CST) && getpid() != waiting_process)
		return;
	__atomic_store_n(&is_ending, true, __ATOMIC_SEQ_CST);
	if (!__atomic_exchange_n(&is_joinable, false, __ATOMIC_SEQ_CST))
		return;
	for (int looks = 0; looks < MOST_LOOKS; looks++) {
		struct timespec limit;

		/* Each time: it may have been about to sleep. */
		syscall(SYS_futex, page, FUTEX_WAKE_BITSET, INT_MAX, NULL, NULL, own_bit());
		clock_gettime(CLOCK_REALTIME, &limit);
		limit.tv_nsec += LOOK;
		limit.tv_sec += limit.tv_nsec / NANOSECONDS;
		limit.tv_nsec %= NANOSECONDS;
		if (pthread_timedjoin_np(waiting_thread, NULL, &limit) == 0)
			return;
	}
}

void vestige_link_wait(void (*begin)(void))
{
	if (!pthread_create || !open_page())
		return;
	begin_with_tracer = begin;
	pthread_atfork(NULL, NULL, after_fork);
	start_thread();
}
