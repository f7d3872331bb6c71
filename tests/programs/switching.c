/* Functions that are left in all ways there are: by jumps, on other stacks, in children. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define THREADS 4
#define STACK_SIZE 65536

static volatile long handled;
static volatile long rounds;
static __thread volatile long depth;
static ucontext_t outside;
static ucontext_t coroutine;

APART long fibonacci(long n)
{
	depth = n;
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

APART void jump_out(jmp_buf place, int n)
{
	if (!n)
		longjmp(place, 1);
	jump_out(place, n - 1);
	depth = n;
}

APART void handle(int number)
{
	handled += fibonacci(5) > 0 && number == SIGALRM;
}

APART void *work(void *result)
{
	long sum = 0;

	for (int round = 0; round < 50; round++) {
		jmp_buf place;

		if (!setjmp(place))
			jump_out(place, round % 30);
		sum += fibonacci(12);
	}
	*(long *) result = sum;
	return NULL;
}

APART void run_coroutine(void)
{
	for (;;) {
		rounds += fibonacci(3);
		swapcontext(&coroutine, &outside);
	}
}

APART void start_alarm(int microseconds)
{
	const struct itimerval timer = {{0, microseconds}, {0, microseconds}};

	setitimer(ITIMER_REAL, &timer, NULL);
}

APART void *sleep_for_ever(void *unused)
{
	for (;;)
		usleep(1000);
	return unused;
}

static void prepare_handler(void)
{
	static char own_stack[STACK_SIZE];
	const stack_t stack = {.ss_sp = own_stack, .ss_size = sizeof(own_stack)};
	const struct sigaction action = {.sa_handler = handle,
					 .sa_flags = SA_RESTART | SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGALRM, &action, NULL);
}

static void switch_stacks(void)
{
	static char stack[STACK_SIZE];

	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stack;
	coroutine.uc_stack.ss_size = sizeof(stack);
	makecontext(&coroutine, run_coroutine, 0);
	for (int round = 0; round < 200; round++)
		swapcontext(&outside, &coroutine);
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		;
	return WEXITSTATUS(status);
}

int main(void)
{
	pthread_t threads[THREADS];
	long results[THREADS];
	pthread_t sleeper;
	long sum = 0;
	void *ended;
	pid_t child;
	int forked;

	prepare_handler();
	start_alarm(500);
	for (int index = 0; index < THREADS; index++)
		pthread_create(&threads[index], NULL, work, &results[index]);
	for (int index = 0; index < THREADS; index++) {
		pthread_join(threads[index], NULL);
		sum += results[index];
	}
	switch_stacks();
	while (!handled)
		;
	start_alarm(0);
	pthread_create(&sleeper, NULL, sleep_for_ever, NULL);
	pthread_cancel(sleeper);
	pthread_join(sleeper, &ended);
	child = fork();
	if (!child)
		_exit(fibonacci(10) == 55 ? 7 : 1);
	forked = wait_for(child);
	child = vfork();
	if (!child)
		_exit(9);
	printf("%ld %ld %d %d %d\n", sum, rounds, ended == PTHREAD_CANCELED, forked,
	       wait_for(child));
	return 0;
}
