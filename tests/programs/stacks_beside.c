/*
 * A thread and a coroutine with stacks side by side. That of the coroutine is above: to the kernel
 * they are one mapping; or below, as an argument says: then there is a page between that nobody may
 * use. The coroutine goes on when what started it, further down, has returned.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>

#define APART __attribute__((noinline, noclone))
#define STACK_SIZE 65536
#define PAGE_SIZE 4096
#define DEEP 1024

static ucontext_t outside;
static ucontext_t coroutine;
static char *own_stack;
static char *other_stack;
static volatile int count;

APART void goes_on(void)
{
	count++;
	swapcontext(&coroutine, &outside);
	count++;
}

APART void contains(void)
{
	goes_on();
	count++;
}

static void run(void)
{
	contains();
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

APART void go_down(void)
{
	volatile char room[DEEP];

	room[0] = 0;
	starts();
	count += room[0];
}

static void *work(void *unused)
{
	getcontext(&coroutine);
	coroutine.uc_stack.ss_sp = other_stack;
	coroutine.uc_stack.ss_size = STACK_SIZE - PAGE_SIZE;
	makecontext(&coroutine, run, 0);
	go_down();
	resumes();
	return unused;
}

int main(int arguments, char **unused)
{
	const int is_below = arguments > 1;
	char *stacks;
	pthread_attr_t attributes;
	pthread_t thread;

	stacks = mmap(NULL, 2 * STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		      -1, 0);
	own_stack = stacks + is_below * STACK_SIZE;
	other_stack = stacks + !is_below * STACK_SIZE;
	if (is_below)
		mprotect(own_stack - PAGE_SIZE, PAGE_SIZE, PROT_NONE);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, own_stack, STACK_SIZE);
	pthread_create(&thread, &attributes, work, NULL);
	pthread_join(thread, NULL);
	printf("%d\n", count);
	return !unused;
}
