/*
 * Calls in ways that a call stack has to be rebuilt from; the first argument says how:
 *
 *   tree           main calls branch 3 times, which calls leaf 5 times, then leaf twice
 *   recursion N    descend calls itself down to N levels
 *   mutual N       even and odd call each other down to N levels
 *   threads N      N calls of leaf in each of eight threads
 *   fork N         N child processes, forked within parent(), with ten calls each
 *   jump N         N times: outer calls inner, which leaves both by longjmp()
 *   killed         ends by a signal within outer and inner
 *   exit           ends by exit() within outer and inner
 *   handler        a signal handler that calls, on top of interrupted
 *   inlined        inlined functions that call, and a function that the C library calls
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static __thread volatile long counter;
static jmp_buf place;

APART void leaf(void)
{
	counter++;
}

APART void branch(void)
{
	for (int index = 0; index < 5; index++)
		leaf();
}

APART void descend(long levels)
{
	counter++;
	if (levels > 1)
		descend(levels - 1);
	counter++;
}

APART void odd(long levels);

APART void even(long levels)
{
	if (levels > 1)
		odd(levels - 1);
	counter++;
}

APART void odd(long levels)
{
	if (levels > 1)
		even(levels - 1);
	counter++;
}

APART void *work(void *count)
{
	for (long index = 0; index < (long) count; index++)
		leaf();
	return NULL;
}

APART void inner(const char *what)
{
	leaf();
	if (!strcmp(what, "jump"))
		longjmp(place, 1);
	if (!strcmp(what, "killed"))
		raise(SIGKILL);
	if (!strcmp(what, "exit"))
		exit(0);
	counter++;
}

APART void outer(const char *what)
{
	inner(what);
	counter++;
}

APART void parent(long number)
{
	for (long index = 0; index < number; index++) {
		if (fork() == 0) {
			work((void *) 10);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

APART void handler(int number)
{
	(void) number;
	leaf();
}

APART void interrupted(void)
{
	raise(SIGUSR1);
	counter++;
}

static inline __attribute__((always_inline)) void thin(void)
{
	counter++;
	leaf();
}

static inline __attribute__((always_inline)) void thick(void)
{
	leaf();
	thin();
	leaf();
}

APART int compare(const void *left, const void *right)
{
	leaf();
	return *(const int *) left - *(const int *) right;
}

APART void inlining(void)
{
	int numbers[] = {2, 1};

	thick();
	leaf();
	thin();
	qsort(numbers, 2, sizeof(numbers[0]), compare);
	leaf();
}

static void run_threads(long number)
{
	pthread_t threads[8];

	for (int index = 0; index < 8; index++)
		pthread_create(&threads[index], NULL, work, (void *) number);
	for (int index = 0; index < 8; index++)
		pthread_join(threads[index], NULL);
}

static void jump_often(long number)
{
	volatile long done = 0;

	setjmp(place);
	while (done < number) {
		done++;
		outer("jump");
	}
	leaf();
}

int main(int count, char **words)
{
	const char *what = count > 1 ? words[1] : "tree";
	long number = count > 2 ? atol(words[2]) : 1;

	if (!strcmp(what, "recursion"))
		descend(number);
	else if (!strcmp(what, "mutual"))
		even(number);
	else if (!strcmp(what, "threads"))
		run_threads(number);
	else if (!strcmp(what, "fork"))
		parent(number);
	else if (!strcmp(what, "jump"))
		jump_often(number);
	else if (!strcmp(what, "inlined"))
		inlining();
	else if (!strcmp(what, "handler")) {
		signal(SIGUSR1, handler);
		interrupted();
	} else if (!strcmp(what, "tree")) {
		for (int index = 0; index < 3; index++)
			branch();
		leaf();
		leaf();
	} else
		outer(what);
	return 0;
}
