/*
 * The file of a program, judged before it is executed: whether its dynamic linker will load the
 * tracer.
 *
 * It will not where there is none, where it belongs to another machine or another C library, and
 * in secure-execution mode, see ld.so(8). The kernel decides on that mode by the IDs that the
 * program will have, so they are worked out here as execve(2) says. In doubt nothing is said: what
 * is named wrongly misleads more than what is not named, and the recorder looks at processes that
 * run for longer by itself.
 */
#define _GNU_SOURCE
#include "program_file.h"

#include <elf.h>
#include <linux/xattr.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "../base/system.h"

/* What the kernel reads of a script. */
#define HEAD_SIZE 256u
/* Of a script whose interpreter is a script. */
#define MOST_INTERPRETERS 4u
#define MOST_SEGMENTS 64u
#define MOST_ENTRIES 512u
/* execvp(3) has it without PATH. */
#define USUAL_PATH "/bin:/usr/bin"
/* Of statfs(2); <sys/statvfs.h> has the same name for it. */
#define MOUNT_NOSUID 2

/* Of this library, which is for the machine that it runs on. */
extern const Elf64_Ehdr __ehdr_start HIDDEN;

struct program_file {
	int file;
	struct stat status;
	union {
		char text[HEAD_SIZE + 1];
		Elf64_Ehdr header;
	} head;
};

static int open_to(int directory, const char *path, int flags)
{
	if (!*path)
		return (int) system_call(SYS_fcntl, directory, F_DUPFD_CLOEXEC, 3, 0, 0, 0);
	return (int) system_call(SYS_openat, directory, (long) path, flags | O_CLOEXEC, 0, 0, 0);
}

/* Read the head of a file; false for one that is not there, or none to execute. One that may be
 * executed and not read still has its mode: its head is empty. */
static bool open_program(struct program_file *program, int directory, const char *path)
{
	/* Not opened before that is known: to open a device may do something. */
	if (system_call(SYS_newfstatat, directory, (long) path, (long) &program->status,
			*path ? 0 : AT_EMPTY_PATH, 0, 0) != 0 ||
	    !S_ISREG(program->status.st_mode))
		return false;
	program->file = open_to(directory, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	if (program->file < 0)
		program->file = open_to(directory, path, O_PATH);
	if (program->file < 0)
		return false;
	memset(&program->head, 0, sizeof(program->head));
	system_pread(program->file, program->head.text, HEAD_SIZE, 0);
	return true;
}

static bool has_capabilities(const struct program_file *program)
{
	return system_call(SYS_fgetxattr, program->file, (long) XATTR_NAME_CAPS, 0, 0, 0, 0) > 0;
}

/* Whether the file may give the program other rights than this process has. */
static bool may_give_rights(const struct program_file *program)
{
	struct statfs mount;

	return system_call(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 0 &&
		system_call(SYS_fstatfs, program->file, (long) &mount, 0, 0, 0, 0) == 0 &&
		!(mount.f_flags & MOUNT_NOSUID);
}

/* Whether the program runs in secure-execution mode: the rights that it begins with are not
 * those of who starts it. */
static bool is_secure(const struct program_file *program, enum unreached_reason *reason)
{
	const mode_t mode = program->status.st_mode;
	const bool sets_user = mode & S_ISUID;
	const bool sets_group = (mode & S_ISGID) && (mode & S_IXGRP);
	uid_t user = (uid_t) system_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
	gid_t group = (gid_t) system_call(SYS_getegid, 0, 0, 0, 0, 0, 0);
	const uid_t real = (uid_t) system_call(SYS_getuid, 0, 0, 0, 0, 0, 0);
	const bool can = (sets_user || sets_group || real != 0) && may_give_rights(program);

	if (can && sets_user)
		user = program->status.st_uid;
	if (can && sets_group)
		group = program->status.st_gid;
	if (user != real)
		*reason = UNREACHED_USER;
	else if (group != (gid_t) system_call(SYS_getgid, 0, 0, 0, 0, 0, 0))
		*reason = UNREACHED_GROUP;
	else if (real != 0 && can && has_capabilities(program))
		*reason = UNREACHED_CAPABILITIES;
	else
		return false;
	return true;
}

/* Read a segment's description; false beyond the last one. */
static bool read_segment(const struct program_file *program, unsigned int number,
			 Elf64_Phdr *found)
{
	const Elf64_Ehdr *header = &program->head.header;

	return number < header->e_phnum && number < MOST_SEGMENTS &&
		header->e_phentsize == sizeof(*found) &&
		system_pread_all(program->file, found, sizeof(*found),
				 header->e_phoff + number * sizeof(*found));
}

/* Whether an object has a name for others to link: a library, or a dynamic linker that is started
 * as a program. */
static bool has_soname(const struct program_file *program, const Elf64_Phdr *dynamic)
{
	Elf64_Dyn entry;

	for (uint64_t number = 0; number < MOST_ENTRIES; number++) {
		if (number * sizeof(entry) >= dynamic->p_filesz ||
		    !system_pread_all(program->file, &entry, sizeof(entry),
				      dynamic->p_offset + number * sizeof(entry)) ||
		    entry.d_tag == DT_NULL)
			return false;
		if (entry.d_tag == DT_SONAME)
			return true;
	}
	return false;
}

static bool is_of_another_library(const struct program_file *program, const Elf64_Phdr *segment)
{
	char path[HEAD_SIZE] = "";
	const uint64_t size =
		segment->p_filesz < sizeof(path) - 1 ? segment->p_filesz : sizeof(path) - 1;

	return system_pread_all(program->file, path, size, segment->p_offset) &&
		strstr(path, "musl");
}

/* Whether a file of ELF has another dynamic linker than ours, or none. */
static bool is_not_linked(const struct program_file *program, enum unreached_reason *reason)
{
	const Elf64_Ehdr *header = &program->head.header;
	Elf64_Phdr segment;
	bool may_be_linker = false;

	/* A shell tries what the kernel does not execute. */
	if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
		return false;
	if (header->e_ident[EI_CLASS] != __ehdr_start.e_ident[EI_CLASS] ||
	    header->e_ident[EI_DATA] != __ehdr_start.e_ident[EI_DATA] ||
	    header->e_machine != __ehdr_start.e_machine) {
		*reason = UNREACHED_MACHINE;
		return true;
	}
	*reason = UNREACHED_STATIC;
	for (unsigned int number = 0; read_segment(program, number, &segment); number++) {
		if (segment.p_type == PT_INTERP) {
			*reason = UNREACHED_LIBRARY;
			return is_of_another_library(program, &segment);
		}
		if (segment.p_type == PT_DYNAMIC && header->e_type == ET_DYN)
			may_be_linker = has_soname(program, &segment);
	}
	return !may_be_linker;
}

/* Put the path of a script's interpreter into its place; false if it is no script. */
static bool find_interpreter(const struct program_file *program, char path[HEAD_SIZE])
{
	const char *start = program->head.text + 2;
	size_t length;

	if (memcmp(program->head.text, "#!", 2) != 0)
		return false;
	start += strspn(start, " \t");
	length = strcspn(start, " \t\n");
	if (!length || length >= HEAD_SIZE)
		return false;
	memmove(path, start, length);
	path[length] = '\0';
	return true;
}

bool program_file_is_unreached(int directory, const char *path, enum unreached_reason *reason)
{
	char interpreter[HEAD_SIZE];
	struct program_file program;

	for (unsigned int depth = 0; depth < MOST_INTERPRETERS; depth++) {
		bool is_unreached = false;
		bool is_script;

		if (!open_program(&program, directory, path))
			return false;
		is_script = find_interpreter(&program, interpreter);
		/* What is neither is for a shell, or for who has registered its form. */
		if (!program.head.text[0])
			is_unreached = is_secure(&program, reason);
		else if (!memcmp(program.head.text, ELFMAG, SELFMAG))
			is_unreached =
				is_secure(&program, reason) || is_not_linked(&program, reason);
		system_close(program.file);
		if (!is_script)
			return is_unreached;
		directory = AT_FDCWD;
		path = interpreter;
	}
	return false;
}

static bool is_program(const char *path)
{
	struct stat status;

	return system_call(SYS_newfstatat, AT_FDCWD, (long) path, (long) &status, 0, 0, 0) == 0 &&
		S_ISREG(status.st_mode) &&
		system_call(SYS_faccessat, AT_FDCWD, (long) path, X_OK, 0, 0, 0) == 0;
}

bool program_file_find(const char *name, char path[PATH_MAX])
{
	const char *folders = getenv("PATH");

	if (strchr(name, '/') || !*name)
		return *name && snprintf(path, PATH_MAX, "%s", name) < PATH_MAX;
	if (!folders)
		folders = USUAL_PATH;
	for (;;) {
		const size_t length = strcspn(folders, ":");
		const int size = snprintf(path, PATH_MAX, "%.*s%s%s", (int) length, folders,
					  length ? "/" : "", name);

		if (size > 0 && size < PATH_MAX && is_program(path))
			return true;
		if (!folders[length])
			return false;
		folders += length + 1;
	}
}
