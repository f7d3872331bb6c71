/* Which library calls are recorded: callers by where they are, functions by their names. */
#define _GNU_SOURCE
#include "library_choice.h"

#include <link.h>
#include <string.h>

#include "../base/settings.h"
#include "../rules/cxx_names.h"
#include "../rules/patterns.h"

#define LONGEST_NAME 1024
/* From the tracer's file up to the folder of all that is ours: vestige/record/native/. */
#define FOLDERS_UP 3

/* Of the system: what is in there is called, and calls nobody. */
static const char *const system_folders[] = {
	"/lib/", "/lib32/", "/lib64/", "/usr/lib/", "/usr/lib32/", "/usr/lib64/",
};

/*
 * Those that find something by their return address, return twice, or never. Return
 * addresses of the others are replaced while they run.
 */
static const char *const passing[] = {
	/* What goes back to where it was called, later or from elsewhere. */
	"_setjmp*", "__setjmp*", "setjmp*", "sigsetjmp*", "__sigsetjmp*", "getcontext",
	"__getcontext", "swapcontext", "__swapcontext", "setcontext", "vfork", "__vfork", "clone",
	"__clone", "clone3",
	/* What asks who calls. */
	"dlopen", "dlmopen", "dlsym", "dlvsym", "backtrace", "_Unwind_*", "unw_*", "_Ux86_64_*",
	"_ULx86_64_*", "__cxa_throw", "__cxa_rethrow", "__cxa_throw_bad_array_*",
	/* What does not come back. */
	"exit", "_exit", "_Exit", "quick_exit", "abort", "__assert", "__assert_fail",
	"__assert_perror_fail", "__stack_chk_fail*", "__chk_fail", "__fortify_fail*", "longjmp",
	"_longjmp", "siglongjmp", "__longjmp_chk", "pthread_exit", "__pthread_unwind_next",
	"thrd_exit", "err", "errx", "verr", "verrx", "_ZSt*__throw_*", "_ZSt9terminatev",
	"__cxa_pure_virtual", "__cxa_deleted_virtual", "__cxa_call_terminate",
	"__cxa_call_unexpected", "__cxa_bad_cast", "__cxa_bad_typeid"};

/* Those that compilers call for their own sake, and hooks. */
static const char *const left[] = {"__libc_start_main",
				   "__gmon_start__",
				   "__cxa_finalize",
				   "_ITM_*",
				   "__tls_get_addr",
				   "___tls_get_addr",
				   "mcount",
				   "_mcount",
				   "__fentry__",
				   "__cyg_profile_func_*",
				   "__asan_*",
				   "__hwasan_*",
				   "__lsan_*",
				   "__msan_*",
				   "__tsan_*",
				   "__ubsan_*",
				   "__sanitizer_*",
				   "__gcov_*",
				   "__llvm_*",
				   "__morestack*"};

#define MATCHES(list, name) matches(list, sizeof(list) / sizeof(*(list)), name)

static struct pattern wanted[MOST_LIBRARY_PATTERNS];
static unsigned int wanted_count;
static char text[LIBRARY_PATTERNS_SIZE];
/* The folder of all that is ours, with the slash. */
static char our_folder[PATH_MAX];

static bool matches(const char *const *list, size_t count, const char *name)
{
	for (size_t index = 0; index < count; index++)
		if (glob_matches(list[index], name))
			return true;
	return false;
}

static int find_ourselves(struct dl_phdr_info *info, size_t size, void *unused)
{
	const uintptr_t here = (uintptr_t) &wanted_count;
	const char *end;

	(void) size;
	(void) unused;
	for (unsigned int index = 0; index < info->dlpi_phnum; index++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[index];

		if (header->p_type != PT_LOAD ||
		    here - info->dlpi_addr - header->p_vaddr >= header->p_memsz)
			continue;
		end = info->dlpi_name + strlen(info->dlpi_name);
		for (unsigned int up = 0; up < FOLDERS_UP && end > info->dlpi_name; up++)
			end = memrchr(info->dlpi_name, '/', (size_t) (end - info->dlpi_name));
		if (end && (size_t) (end + 2 - info->dlpi_name) < sizeof(our_folder))
			memcpy(our_folder, info->dlpi_name, (size_t) (end + 1 - info->dlpi_name));
		return 1;
	}
	return 0;
}

static unsigned int digit(char character)
{
	return (unsigned int) (character <= '9' ? character - '0' : character - 'A' + 10) & 15;
}

/* Decode a list of LIBRARY:NAME, in which special characters are written as %XX. */
static void read_patterns(const char *from)
{
	char *to = text;
	struct pattern *pattern = NULL;

	while (*from && to + 1 < text + sizeof(text)) {
		char character = *from++;

		if (!pattern) {
			if (wanted_count == MOST_LIBRARY_PATTERNS)
				return;
			pattern = &wanted[wanted_count];
			pattern->object = to;
		}
		if (character == '%' && from[0] && from[1]) {
			*to++ = (char) (digit(from[0]) << 4 | digit(from[1]));
			from += 2;
		} else if (character == ':' && !pattern->name) {
			*to++ = '\0';
			pattern->name = to;
		} else if (character == ',') {
			*to++ = '\0';
			wanted_count += pattern->name != NULL;
			pattern = NULL;
		} else {
			*to++ = character;
		}
	}
	wanted_count += pattern && pattern->name;
}

bool library_choice_start(void)
{
	if (!settings.library_calls[0])
		return false;
	read_patterns(settings.library_calls);
	dl_iterate_phdr(find_ourselves, NULL);
	return wanted_count;
}

bool library_choice_is_ours(const char *path)
{
	return our_folder[0] && strncmp(path, our_folder, strlen(our_folder)) == 0;
}

bool library_choice_takes_caller(const char *path)
{
	/* The vDSO has a name without a folder. */
	if (*path && !strchr(path, '/'))
		return false;
	for (size_t index = 0; index < sizeof(system_folders) / sizeof(*system_folders); index++)
		if (strncmp(path, system_folders[index], strlen(system_folders[index])) == 0)
			return false;
	return !library_choice_is_ours(path);
}

static bool is_wanted(const char *name, const char *library)
{
	char readable[LONGEST_NAME];
	const bool is_mangled = cxx_name(name, readable, sizeof(readable));

	for (unsigned int index = 0; index < wanted_count; index++) {
		const struct pattern *pattern = &wanted[index];

		if (pattern_applies(pattern, library, !*library) &&
		    (glob_matches(pattern->name, name) ||
		     (is_mangled && glob_matches(pattern->name, readable))))
			return true;
	}
	return false;
}

enum library_treatment library_choice_treats(const char *name, const char *library)
{
	if (MATCHES(left, name) || !is_wanted(name, library))
		return LIBRARY_LEFT;
	return MATCHES(passing, name) ? LIBRARY_PASSES : LIBRARY_RECORDED;
}
