/* Writes refusals; tracer/agreement/settings.py tells what they look like, now and later. */
#define _GNU_SOURCE
#include "refusal.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "system.h"

bool refusal_write(const char *directory, const char *agreement, const char *version,
		   const char *name)
{
	char path[PATH_MAX + sizeof(REFUSALS_FILE)];
	char program[PROCNAME_SIZE + 1] = "";
	char line[256];
	struct stat status;
	bool is_written = false;
	int length;
	int file;

	if (strlen(directory) >= PATH_MAX)
		return false;
	if (!name) {
		system_thread_name(program);
		name = program;
	}
	snprintf(path, sizeof(path), "%s/" REFUSALS_FILE, directory);
	file = system_open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK);
	if (file < 0)
		return false;
	length = snprintf(line, sizeof(line), "%u %.*s %.*s %.*s\n", system_getpid(), 32,
			  agreement, 64, version, 64, name);
	/* One store of the kernel: lines of several processes do not mix. */
	if (length > 0 && system_fstat(file, &status) && S_ISREG(status.st_mode) &&
	    status.st_size < (off_t) LARGEST_REFUSALS)
		is_written = system_call(SYS_write, file, (long) line, length, 0, 0, 0) == length;
	system_close(file);
	return is_written;
}
