/* forking [CHILDREN]: each child speaks while the parent waits. Preload liblttng-ust-fork.so. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "forking_tp.h"

static void child_main(int child)
{
	for (int line = 0; line < 5; line++)
		lttng_ust_tracepoint(forking, child_says, child, line);
}

int main(int argc, char **argv)
{
	int children = argc > 1 ? atoi(argv[1]) : 3;
	int failures = 0;

	lttng_ust_tracepoint(forking, parent_says, -1);
	for (int child = 0; child < children; child++) {
		pid_t pid = fork();

		if (pid < 0)
			return 1;
		if (pid == 0) {
			child_main(child);
			exit(0);
		}
		lttng_ust_tracepoint(forking, parent_says, child);
	}
	for (int child = 0; child < children; child++) {
		int status;

		if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0)
			failures++;
	}
	lttng_ust_tracepoint(forking, parent_says, children);
	return failures;
}
