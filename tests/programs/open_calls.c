/*
 * Functions that are left by jumps, and functions that jump to others: who called whom.
 *
 * With -fno-optimize-sibling-calls those that jump call instead.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define ROUNDS 20
#define STACK_SIZE 65536

static jmp_buf place;
static sigjmp_buf outside;
static volatile long sum;
static ucontext_t first_context;
static ucontext_t second_context;

APART long innermost(long n)
{
	sum += n;
	return sum;
}

APART void jumps(long n)
{
	if (!n)
		longjmp(place, 1);
	jumps(n - 1);
	sum += n;
}

APART void lands(long n)
{
	if (!setjmp(place))
		jumps(n);
	sum += innermost(n);
}

APART long third(long n)
{
	sum += n;
	return innermost(n) + 1;
}

APART long second(long n)
{
	sum += n;
	return third(n + 1);
}

APART long first(long n)
{
	sum += n;
	return n & 1 ? third(n) : second(n + 1);
}

/* They never come to an end of calls that jump. */
APART long pong(long n);

APART long ping(long n)
{
	return n ? pong(n - 1) : innermost(n);
}

APART long pong(long n)
{
	return n ? ping(n - 1) : innermost(n);
}

APART void handle(int number)
{
	sum += innermost(number);
	siglongjmp(outside, 1);
}

APART void handled(long n)
{
	if (!sigsetjmp(outside, 1))
		raise(SIGUSR1);
	sum += innermost(n);
}

APART void within(void)
{
	for (;;) {
		sum += innermost(1);
		swapcontext(&second_context, &first_context);
	}
}

APART void switches(long n)
{
	sum += innermost(n);
	swapcontext(&first_context, &second_context);
	sum += innermost(n);
}

int main(void)
{
	static char stack[STACK_SIZE];
	static char other[STACK_SIZE];
	const stack_t alternate = {.ss_sp = other, .ss_size = sizeof(other)};
	struct sigaction action;

	sigaltstack(&alternate, NULL);
	memset(&action, 0, sizeof(action));
	action.sa_handler = handle;
	action.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &action, NULL);
	getcontext(&second_context);
	second_context.uc_stack.ss_sp = stack;
	second_context.uc_stack.ss_size = sizeof(stack);
	makecontext(&second_context, within, 0);
	for (long round = 0; round < ROUNDS; round++) {
		lands(round);
		sum += first(round);
		sum += ping(round);
		handled(round);
		switches(round);
	}
	printf("%ld\n", sum);
	return 0;
}
