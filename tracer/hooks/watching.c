/* Takes the rules of triggers. */
#include "watching.h"

#include "../base/system.h"
#include "../rules/watches.h"
#include "telling.h"
#include "tracepoint.h"

/* Of rules, with what is told. */
#define LARGEST_WATCHES ((size_t) 8 << 20)

enum joining_status watching_take(unsigned int which, const struct message_watch *message,
				  int file, int socket, int counters)
{
	struct stat status;
	char *bytes;
	bool is_whole;

	if (socket >= 0 && counters >= 0)
		telling_take(which, socket, counters);
	if (file < 0 || !system_fstat(file, &status) || status.st_size <= 0 ||
	    status.st_size > (off_t) LARGEST_WATCHES)
		return JOINING_FAILED;
	bytes = system_mmap(NULL, (size_t) status.st_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1);
	/* It stays, since filters and events refer to it. */
	is_whole = bytes && system_pread_all(file, bytes, (size_t) status.st_size, 0) &&
		watches_set(which, message, bytes, (size_t) status.st_size);
	tracepoints_choose();
	return is_whole ? JOINING_DONE : JOINING_FAILED;
}

void watching_end(unsigned int which)
{
	static const struct message_watch nothing;

	if (!telling_is_begun(which))
		return;
	watches_set(which, &nothing, "", 0);
	tracepoints_choose();
}
