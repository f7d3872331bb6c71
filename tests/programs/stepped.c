/*
 * Goes on by single instructions, and looks after each that is outside of the program whether its
 * stack leads to main(). What has no symbols and no file, such as code that was made in memory, is
 * not looked at. Prints how many instructions, how many ways were lost, and where the first of them.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define DEEP 64
#define TRAP_FLAG 0x100

static volatile long counter;
static volatile long seen;
static volatile long lost;
static volatile long first;
static char name[512];

__attribute__((noinline, noclone)) int last(int value)
{
	counter++;
	return value;
}

/* Ends with a jump. */
__attribute__((noinline, noclone)) int jumping(int value)
{
	counter++;
	return last(value + 1);
}

__attribute__((noinline, noclone)) int outer(int value)
{
	const int result = jumping(value);

	counter++;
	return result + last(result);
}

__attribute__((noinline, noclone)) int main(void);

static int is_in_main(void *place)
{
	Dl_info found;

	return dladdr(place, &found) && found.dli_sname && !strcmp(found.dli_sname, "main");
}

static void step(int number, siginfo_t *information, void *context)
{
	const ucontext_t *interrupted = context;
	void *place = (void *) interrupted->uc_mcontext.gregs[REG_RIP];
	void *frames[DEEP];
	Dl_info found;
	int count;

	(void) number;
	(void) information;
	if (!dladdr(place, &found) || !strstr(found.dli_fname, "vestige-tracer"))
		return;
	seen++;
	count = backtrace(frames, DEEP);
	for (int index = 0; index < count; index++)
		if (is_in_main(frames[index]))
			return;
	if (!lost++) {
		first = (char *) place - (char *) found.dli_fbase;
		strncpy(name, found.dli_sname ? found.dli_sname : found.dli_fname,
			sizeof(name) - 1);
	}
}

static void set_trap(unsigned long flags)
{
	__asm__ volatile("leaq -128(%%rsp), %%rsp\n\t"
			 "pushq %0\n\t"
			 "popfq\n\t"
			 "leaq 128(%%rsp), %%rsp\n\t"
			 :
			 : "r"(flags)
			 : "memory", "cc");
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = step, .sa_flags = SA_SIGINFO};
	void *frame;
	int sum = 0;

	/* What is needed is loaded. */
	backtrace(&frame, 1);
	outer(1);
	sigaction(SIGTRAP, &action, NULL);
	for (int round = 0; round < 3; round++) {
		set_trap(TRAP_FLAG | 2);
		sum += outer(round);
		set_trap(2);
	}
	printf("sum %d seen %d lost %ld %s %lx\n", sum, seen > 0, lost, name, first);
	return 0;
}
