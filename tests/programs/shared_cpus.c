/*
 * shared_cpus MODE NUMBER: processes and threads that share the rings of CPUs.
 *
 *   killed    NUMBER processes call functions until they are killed, one after the other
 *   moving    threads that go from CPU to CPU call functions
 *   vforking  children of vfork call functions while threads do, too
 *
 * Printed is a line for each thread that was killed or has ended: its process ID, its thread ID, how
 * many calls it has finished, and how many it has begun.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define UNTRACED __attribute__((no_instrument_function))
#define AT_ONCE 3
#define THREADS 4
/* Calls at full speed of a process until it is killed, and of a thread. */
#define FAST_OF_PROCESS 10000
#define FAST_OF_THREAD 100000

struct counts {
	volatile long begun;
	volatile long finished;
	long thread;
};

static long number;
static volatile long sink;
static volatile int is_over;

APART static void leaf(void)
{
	sink++;
}

UNTRACED static void call(struct counts *counts)
{
	counts->begun++;
	leaf();
	counts->finished++;
}

/* After those at full speed with pauses: on a busy machine there would be millions. */
UNTRACED static void go_on_calling(struct counts *counts, long fast)
{
	call(counts);
	if (counts->begun > fast && counts->begun % 100 == 0)
		usleep(1000);
}

UNTRACED static void *shared_memory(size_t size)
{
	void *memory =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		exit(1);
	return memory;
}

UNTRACED static void tell(long process, const struct counts *counts)
{
	printf("%ld %ld %ld %ld\n", process, counts->thread, counts->finished, counts->begun);
}

UNTRACED static pid_t start_worker(struct counts *counts)
{
	const pid_t child = fork();

	if (child)
		return child;
	counts->thread = getpid();
	for (;;)
		go_on_calling(counts, FAST_OF_PROCESS);
}

UNTRACED static void mode_killed(void)
{
	struct counts *counts = shared_memory((size_t) (number + AT_ONCE) * sizeof(*counts));
	pid_t workers[AT_ONCE];
	int ends[AT_ONCE];

	for (int one = 0; one < AT_ONCE; one++) {
		ends[one] = (int) number + one;
		workers[one] = start_worker(&counts[ends[one]]);
	}
	for (int round = 0; round < number + AT_ONCE; round++) {
		const int one = round % AT_ONCE;

		usleep((unsigned int) (rand() % 3000));
		kill(workers[one], SIGKILL);
		waitpid(workers[one], NULL, 0);
		tell(workers[one], &counts[ends[one]]);
		if (round >= number)
			continue;
		ends[one] = round;
		workers[one] = start_worker(&counts[round]);
	}
}

UNTRACED static void *move(void *argument)
{
	struct counts *counts = argument;
	const long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	counts->thread = syscall(SYS_gettid);
	for (long index = 0; index < number; index++) {
		if (index % 50 == 0) {
			cpu_set_t set;

			CPU_ZERO(&set);
			CPU_SET((size_t) (index / 50 % cpus), &set);
			sched_setaffinity(0, sizeof(set), &set);
		}
		call(counts);
	}
	return NULL;
}

UNTRACED static void *go_on(void *argument)
{
	struct counts *counts = argument;

	counts->thread = syscall(SYS_gettid);
	while (!is_over)
		go_on_calling(counts, FAST_OF_THREAD);
	return NULL;
}

UNTRACED static void in_threads(void *(*function)(void *), void (*meanwhile)(struct counts *))
{
	struct counts counts[THREADS + 1];
	pthread_t threads[THREADS];

	memset(counts, 0, sizeof(counts));
	for (int one = 0; one < THREADS; one++)
		pthread_create(&threads[one], NULL, function, &counts[one]);
	counts[THREADS].thread = getpid();
	if (meanwhile)
		meanwhile(&counts[THREADS]);
	is_over = 1;
	for (int one = 0; one < THREADS; one++)
		pthread_join(threads[one], NULL);
	for (int one = 0; one <= THREADS; one++)
		tell(getpid(), &counts[one]);
}

UNTRACED static void vfork_often(struct counts *counts)
{
	for (long index = 0; index < number; index++) {
		const pid_t child = vfork();

		for (int calls = 0; calls < 100; calls++)
			call(counts);
		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}

UNTRACED int main(int argc, char **argv)
{
	number = argc > 2 ? atol(argv[2]) : 0;
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc > 1 && !strcmp(argv[1], "killed"))
		mode_killed();
	else if (argc > 1 && !strcmp(argv[1], "moving"))
		in_threads(move, NULL);
	else if (argc > 1 && !strcmp(argv[1], "vforking"))
		in_threads(go_on, vfork_often);
	return 0;
}
