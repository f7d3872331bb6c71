/* Lets a debugger show its stack, some calls down; the debugger may be its child. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define DEPTH 5

static volatile int sink;

APART int show(void)
{
	char command[200];

	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	snprintf(command, sizeof(command),
		 "gdb -nx -batch -iex 'set debuginfod enabled off' -ex bt -p %d 2>&1", getpid());
	return system(command);
}

APART int descend(int depth)
{
	const int result = depth ? descend(depth - 1) : show();

	sink = result;
	return result;
}

int main(void)
{
	return descend(DEPTH) != 0;
}
