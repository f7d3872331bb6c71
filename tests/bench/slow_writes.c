/*
 * A slow disk, for LD_PRELOAD in whoever writes a trace: what is written to files takes
 * SLOW_WRITES_US microseconds longer for each 64 KiB, one after the other in each thread.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define EACH 65536
/* What is shorter is a line of text. */
#define LEAST 4096

static long microseconds(void)
{
	static long known = -1;

	if (known < 0) {
		const char *text = getenv("SLOW_WRITES_US");

		known = text ? atol(text) : 0;
	}
	return known;
}

static ssize_t slowly(int file, ssize_t size)
{
	struct stat found;

	if (size >= LEAST && fstat(file, &found) == 0 && S_ISREG(found.st_mode)) {
		const long long time = 1000LL * microseconds() * size / EACH;
		const struct timespec pause = {time / 1000000000, time % 1000000000};

		nanosleep(&pause, NULL);
	}
	return size;
}

#define NEXT(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t pwritev(int file, const struct iovec *parts, int count, off_t at)
{
	return slowly(file, NEXT(pwritev)(file, parts, count, at));
}

ssize_t writev(int file, const struct iovec *parts, int count)
{
	return slowly(file, NEXT(writev)(file, parts, count));
}

ssize_t write(int file, const void *bytes, size_t size)
{
	return slowly(file, NEXT(write)(file, bytes, size));
}
