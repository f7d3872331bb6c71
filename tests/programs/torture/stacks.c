/* Signals, and stacks that are switched and left. */
#define _GNU_SOURCE
#include "torture.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

static volatile sig_atomic_t level;

APART static void nested_handler(int signal)
{
	if (level > 3)
		return;
	level++;
	leaf();
	if (level < 3)
		raise(signal);
	leaf();
	level--;
}

APART static void *signalled_thread(void *argument)
{
	(void) argument;
	calls(number);
	return NULL;
}

APART static void all_timers(void (*handler)(int), int flags)
{
	every(ITIMER_REAL, SIGALRM, handler, SA_RESTART | flags, 70);
	if (flags & SA_ONSTACK)
		/* It has room for one handler. */
		return;
	every(ITIMER_PROF, SIGPROF, handler, SA_RESTART | flags, 110);
	every(ITIMER_VIRTUAL, SIGVTALRM, handler, SA_RESTART | flags, 130);
}

APART static void no_timers(void)
{
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
	every(ITIMER_PROF, SIGPROF, SIG_IGN, 0, 0);
	every(ITIMER_VIRTUAL, SIGVTALRM, SIG_IGN, 0, 0);
}

APART void mode_signals(void)
{
	struct sigaction action = {.sa_handler = nested_handler, .sa_flags = SA_NODEFER};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	all_timers(nested_handler, SA_NODEFER);
	pthread_create(&thread, NULL, signalled_thread, NULL);
	for (int index = 0; index < 3000; index++) {
		pthread_kill(thread, SIGUSR1);
		leaf();
		sched_yield();
		if (pthread_tryjoin_np(thread, NULL) == 0) {
			thread = 0;
			break;
		}
	}
	if (thread)
		pthread_join(thread, NULL);
	no_timers();
}

APART static void simple_handler(int signal)
{
	(void) signal;
	calls(2);
}

static char *altstack_place;
static size_t altstack_size;

APART static void *altstack_thread(void *argument)
{
	const stack_t stack = {.ss_sp = altstack_place, .ss_size = altstack_size};

	(void) argument;
	sigaltstack(&stack, NULL);
	calls(number);
	return NULL;
}

/* A small one above the stack of the thread, with a guard below it. */
APART void mode_altstack(void)
{
	sigset_t timers;
	sigset_t before;
	pthread_t thread;

	altstack_size = (size_t) sysconf(_SC_MINSIGSTKSZ) + 2048;
	altstack_size = (altstack_size + 4095) & ~(size_t) 4095;
	altstack_place = mmap(NULL, altstack_size + 4096, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	altstack_place += 4096;
	mprotect(altstack_place, altstack_size, PROT_READ | PROT_WRITE);
	sigemptyset(&timers);
	sigaddset(&timers, SIGALRM);
	sigaddset(&timers, SIGPROF);
	sigaddset(&timers, SIGVTALRM);
	pthread_create(&thread, NULL, altstack_thread, NULL);
	pthread_sigmask(SIG_BLOCK, &timers, &before);
	all_timers(simple_handler, SA_ONSTACK);
	pthread_join(thread, NULL);
	no_timers();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

APART void mode_late_signals(void)
{
	all_timers(simple_handler, 0);
	for (long index = 0; index < number; index++)
		in_threads(4, calling_thread, (void *) 3);
	no_timers();
}

static sigjmp_buf place;
static volatile sig_atomic_t may_jump;

APART static void jumping_handler(int signal)
{
	(void) signal;
	leaf();
	if (may_jump)
		siglongjmp(place, 1);
}

APART void mode_jump(void)
{
	volatile long done = 0;
	volatile long jumps = 0;

	all_timers(jumping_handler, 0);
	if (sigsetjmp(place, 1))
		jumps++;
	may_jump = 1;
	while (done < number) {
		done++;
		leaf();
	}
	may_jump = 0;
	no_timers();
	counter[1] = jumps;
}

static ucontext_t scheduler;
static ucontext_t coroutines[8];
static volatile int running = -1;
static volatile int finished;

APART static void coroutine(int index)
{
	for (long count = 0; count < number; count++) {
		leaf();
		if (count % 7 == index % 7)
			swapcontext(&coroutines[index], &scheduler);
	}
	finished |= 1 << index;
}

APART static void make_coroutines(void (*function)(int), size_t size)
{
	for (int index = 0; index < 8; index++) {
		char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		getcontext(&coroutines[index]);
		coroutines[index].uc_stack.ss_sp = stack;
		coroutines[index].uc_stack.ss_size = size;
		coroutines[index].uc_link = &scheduler;
		makecontext(&coroutines[index], (void (*)(void)) function, 1, index);
	}
}

APART void mode_coroutines(void)
{
	make_coroutines(coroutine, 16 << 10);
	while (finished != 0xff) {
		for (int index = 0; index < 8; index++) {
			if (!(finished & 1 << index))
				swapcontext(&scheduler, &coroutines[index]);
		}
	}
}

/* Coroutines that a timer takes the processor from, in the middle of anything. */
APART static void preempt(int signal)
{
	const int index = running;
	const char *here = (const char *) &index;
	const char *stack = index < 0 ? NULL : coroutines[index].uc_stack.ss_sp;

	(void) signal;
	/* The C library's switch is none of the things that may be interrupted. Where a
	 * coroutine begins, it is at the top of the stack, below which the kernel has put the
	 * registers, some 3 KB of them. */
	if (!stack || here < stack || here > stack + coroutines[index].uc_stack.ss_size - 8192)
		return;
	running = -1;
	swapcontext(&coroutines[index], &scheduler);
}

APART static void preempted(int index)
{
	for (long count = 0; count < number; count++)
		leaf();
	running = -1;
	finished |= 1 << index;
}

APART void mode_preempted(void)
{
	make_coroutines(preempted, 64 << 10);
	every(ITIMER_REAL, SIGALRM, preempt, SA_RESTART, 60);
	while (finished != 0xff) {
		for (int index = 0; index < 8; index++) {
			if (finished & 1 << index)
				continue;
			running = index;
			swapcontext(&scheduler, &coroutines[index]);
		}
	}
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
}

APART static void overflow_handler(int signal)
{
	(void) signal;
	leaf();
	siglongjmp(place, 1);
}

/* Twice as deep as the stack, until the handler of the fault ends it. */
APART void mode_overflow(void)
{
	static char room[64 << 10];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = overflow_handler, .sa_flags = SA_ONSTACK};
	volatile long overflows = 0;
	const struct rlimit small = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_STACK, &small);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(place, 1))
		overflows++;
	if (overflows < number)
		deep(1 << 20);
	calls(10);
	say("overflows", overflows);
}

APART static void *small_thread(void *argument)
{
	calls((long) argument);
	return NULL;
}

APART void mode_small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int index = 0; index < 8; index++) {
		pthread_create(&thread, &attributes, small_thread, (void *) number);
		pthread_join(thread, NULL);
		/* The first thread of a child process tells what is loaded. */
		if (fork() == 0) {
			pthread_create(&thread, &attributes, small_thread, (void *) 3);
			pthread_join(thread, NULL);
			_exit(0);
		}
		reap();
	}
}

APART void mode_state(void)
{
	long wrong = 0;
	sigset_t before;
	sigset_t after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (long index = 0; index < number; index++) {
		errno = (int) (index % 99);
		leaf();
		wrong += errno != index % 99;
	}
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	say("errno", wrong);
	say("mask", memcmp(&before, &after, 8));
	say("pending", sigpending(&after) || sigismember(&after, SIGXFSZ));
}
