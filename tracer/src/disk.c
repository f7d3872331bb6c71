/* Making room on a file system, and writing, without ending the program. */
#define _GNU_SOURCE
#include "disk.h"

#include <sys/uio.h>

#include "system.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

/* How large a file may be; beyond, the kernel would end the program by a signal. */
uint64_t disk_largest_file(void)
{
	struct rlimit limit;

	if (system_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long) &limit, 0, 0) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* Where the limit cannot be asked for, or another thread lowers it, the signal waits. */
bool disk_is_grown(long result)
{
	if (result == -EFBIG)
		system_take_signal(SIGXFSZ);
	return result == 0;
}

/* Create a file that is not there; the program needs it again, and so does the recorder,
 * whatever the umask is. */
int disk_create(const char *name)
{
	const int file = system_open(name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);

	if (file >= 0)
		system_call(SYS_fchmod, file, 0600, 0, 0, 0, 0);
	return file;
}

bool disk_write(int file, const void *from, size_t size, uint64_t offset)
{
	const char *bytes = from;

	while (size) {
		const long written = system_pwrite(file, bytes, size, offset);

		if (written == -EINTR)
			continue;
		if (written <= 0)
			return disk_is_grown(written ? written : -EIO);
		bytes += written;
		size -= (size_t) written;
		offset += (uint64_t) written;
	}
	return true;
}

/* Write two pieces, one behind the other. */
bool disk_write_two(int file, const void *first, size_t first_size, const void *second,
		      size_t second_size, uint64_t offset)
{
	const struct iovec pieces[] = {{(void *) (uintptr_t) first, first_size},
				       {(void *) (uintptr_t) second, second_size}};
	const long written = system_call(SYS_pwritev, file, (long) pieces, 2, (long) offset,
					 (long) (offset >> 32), 0);

	return written == (long) (first_size + second_size) ||
		(disk_write(file, first, first_size, offset) &&
		 disk_write(file, second, second_size, offset + first_size));
}

/* Give a file blocks: a store to a mapped hole on a full disk would be a signal. */
bool disk_allocate(int file, size_t size)
{
	static const char zeros[4096];
	long result;

	if (disk_largest_file() < size)
		return false;
	result = system_call(SYS_fallocate, file, 0, 0, (long) size, 0, 0);
	if (result == 0 || result == -ENOSPC || result == -EFBIG || result == -EDQUOT)
		return disk_is_grown(result);
	/* The file system cannot, or the program is not allowed to. */
	for (size_t offset = 0; offset < size; offset += sizeof(zeros)) {
		if (!disk_write(file, zeros, sizeof(zeros), offset))
			return false;
	}
	return true;
}

/* Make the pages of a mapped file, so that no store can fail for want of memory or room. */
bool disk_populate(void *place, size_t size)
{
	const long result = system_call(SYS_madvise, (long) place, (long) size,
					MADV_POPULATE_WRITE, 0, 0, 0);

	/* Older kernels do not know this, and make the pages when they are touched. */
	return result == 0 || result == -EINVAL;
}
