/*
 * linked_calls: what stands in for prctl() and syscall() does what the C library's would. Each check
 * that fails is a bit of the exit status. With OWN, the program has functions of these names.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __cplusplus
#define NOTHROWN noexcept
#define EARLY extern "C" __attribute__((constructor(101)))
extern "C" {
#else
#define NOTHROWN
#define EARLY __attribute__((constructor(101)))
#endif

#ifdef OWN
int prctl(int option, ...)
{
	return option == PR_GET_DUMPABLE ? 77 : -1;
}

long syscall(long number, ...) NOTHROWN
{
	return number == SYS_getpid ? 78 : -1;
}

pid_t vfork(void) NOTHROWN
{
	return 79;
}
#endif

#ifdef __cplusplus
}
#endif

static int early;

/* Perhaps before what stands in has looked for what is next. */
EARLY void call(void)
{
	early = syscall(SYS_getpid) == getpid();
}

static int check_own(void)
{
	return (prctl(PR_GET_DUMPABLE) != 77) | (syscall(SYS_getpid) != 78) << 1 |
		(vfork() != 79) << 2;
}

static int check(void)
{
	const int page = (int) sysconf(_SC_PAGESIZE);
	int failed = !early;
	char name[16] = "";
	char *mapped;
	int file = memfd_create("pages", 0);

	/* Six arguments, of which the last is on the stack. */
	if (ftruncate(file, 2L * page) != 0 || pwrite(file, "x", 1, page) != 1)
		return 128;
	mapped = (char *) syscall(SYS_mmap, NULL, (size_t) page, PROT_READ, MAP_SHARED, file,
				  (off_t) page);
	failed |= (mapped == MAP_FAILED || *mapped != 'x') << 1;
	errno = 0;
	failed |= (syscall(SYS_close, -1) != -1 || errno != EBADF) << 2;
	errno = EXDEV;
	failed |= (syscall(SYS_getppid) != getppid() || errno != EXDEV) << 3;
	prctl(PR_SET_NAME, "renamed");
	failed |= (prctl(PR_GET_NAME, name) != 0 || strcmp(name, "renamed")) << 4;
	/* What libraries ask with; nothing is confined by it. */
	errno = 0;
	failed |= (syscall(SYS_seccomp, SECCOMP_SET_MODE_STRICT, 1, NULL) != -1 ||
		   errno != EINVAL) << 5;
	errno = 0;
	failed |= (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != -1 ||
		   (errno != EFAULT && errno != EACCES)) << 6;
	return failed;
}

int main(void)
{
#ifdef OWN
	return check_own();
#else
	(void) check_own;
	return check();
#endif
}
