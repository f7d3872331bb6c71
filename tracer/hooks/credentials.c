/*
 * The functions of the C library that change credentials and namespaces, setuid(2),
 * setns(2) and so on: contexts that tell of them are asked for again afterwards. Credentials
 * are those of all threads of a process there; programs that make the system calls
 * themselves are not seen.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/types.h>

#include "../base/compiler.h"
#include "../stream/context.h"
#include "original.h"

/* Stand in for a function of the C library. */
#define STAND_IN(name, parameters, arguments)       \
	EXPORTED int name parameters;               \
	static __typeof__(name) *original_##name;   \
	int name parameters                         \
	{                                           \
		int result;                         \
                                                    \
		FIND(name);                         \
		if (!original_##name) {             \
			errno = ENOSYS;             \
			return -1;                  \
		}                                   \
		result = original_##name arguments; \
		context_forget();                   \
		return result;                      \
	}

STAND_IN(setuid, (uid_t user), (user))
STAND_IN(setgid, (gid_t group), (group))
STAND_IN(seteuid, (uid_t user), (user))
STAND_IN(setegid, (gid_t group), (group))
STAND_IN(setreuid, (uid_t real, uid_t effective), (real, effective))
STAND_IN(setregid, (gid_t real, gid_t effective), (real, effective))
STAND_IN(setresuid, (uid_t real, uid_t effective, uid_t saved), (real, effective, saved))
STAND_IN(setresgid, (gid_t real, gid_t effective, gid_t saved), (real, effective, saved))
STAND_IN(setns, (int file, int kind), (file, kind))
STAND_IN(unshare, (int flags), (flags))

/* Early, as in confined.c. */
static __attribute__((constructor(101))) void find(void)
{
	FIND(setuid);
	FIND(setgid);
	FIND(seteuid);
	FIND(setegid);
	FIND(setreuid);
	FIND(setregid);
	FIND(setresuid);
	FIND(setresgid);
	FIND(setns);
	FIND(unshare);
}
