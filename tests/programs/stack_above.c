/*
 * A thread whose stack ends where that of a coroutine begins: to the kernel they are one mapping.
 * The coroutine is called further up, while what started it is still to return.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define STACK_SIZE 65536

static ucontext_t outside;
static ucontext_t coroutine;
static char *stacks;
static volatile int count;

APART void goes_on(void)
{
	count++;
	swapcontext(&coroutine, &outside);
	count++;
}

static void run(void)
{
	goes_on();
	swapcontext(&coroutine, &outside);
}

APART void starts(void)
{
	swapcontext(&outside, &coroutine);
	count++;
}

APART void resumes(void)
{
	swapcontext(&outside, &coroutine);
	count++;
}

static void *work(void *unused)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = stacks + STACK_SIZE;
	coroutine.uc_stack.ss_size = STACK_SIZE;
	makecontext(&coroutine, run, 0);
	starts();
	resumes();
	return unused;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks, STACK_SIZE);
	pthread_create(&thread, &attributes, work, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", count);
	return 0;
}
