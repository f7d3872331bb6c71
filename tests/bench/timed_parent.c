/*
 * A quiet program, timed_parent SECONDS: does nothing for so long, and prints how much processor
 * time all threads of its parent took meanwhile, in millionths of the time that has passed.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long parent_nanoseconds(void)
{
	char path[300];
	long long sum = 0, one;
	struct dirent *entry;
	FILE *file;
	DIR *tasks;

	snprintf(path, sizeof(path), "/proc/%d/task", getppid());
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s/schedstat", getppid(),
			 entry->d_name);
		file = fopen(path, "r");
		if (!file)
			continue;
		if (fscanf(file, "%lld", &one) == 1)
			sum += one;
		fclose(file);
	}
	if (tasks)
		closedir(tasks);
	return sum;
}

int main(int count, char **words)
{
	const double seconds = count > 1 ? atof(words[1]) : 1;
	long long before;

	/* Until who records has finished starting. */
	sleep(2);
	before = parent_nanoseconds();
	usleep((useconds_t) (seconds * 1e6));
	printf("idle=%.1f\n", (double) (parent_nanoseconds() - before) / 1e3 / seconds);
	return 0;
}
