/*
 * Calling a function of the dynamic linker in the name of the program.
 *
 * dlopen() takes from its return address which object calls it, and looks for files where
 * the RPATH or RUNPATH of that object says. Where that matters, it is given a return address
 * in that object: one where there is a `ret` instruction, which gets us back here. See
 * decision 48.
 */
#define _GNU_SOURCE
#include "caller.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if defined(__x86_64__)

#define RET 0xc3

/* Below the return address there is one of ours, and room that keeps the stack aligned. */
__asm__(".text\n"
	".hidden caller_call\n"
	".globl caller_call\n"
	".type caller_call, @function\n"
	"caller_call:\n"
	".cfi_startproc\n"
	"endbr64\n"
	"pushq %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	"leaq 1f(%rip), %rax\n"
	"subq $8, %rsp\n"
	"pushq %rax\n"
	"pushq %r8\n"
	"jmpq *%rcx\n"
	"1:\n"
	"leave\n"
	".cfi_def_cfa %rsp, 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size caller_call, .-caller_call\n");

/* A shadow stack has the true return addresses, and allows no other. */
static bool has_shadow_stack(void)
{
	uint64_t top = 0;

	__asm__ volatile("rdsspq %0" : "+r"(top));
	return top != 0;
}

static const void *find_place(const struct dl_phdr_info *object)
{
	for (int index = 0; index < object->dlpi_phnum; index++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[index];

		if (segment->p_type == PT_LOAD && (segment->p_flags & PF_X) &&
		    (segment->p_flags & PF_R)) {
			const void *start = (const void *) (object->dlpi_addr + segment->p_vaddr);
			const void *place = memchr(start, RET, segment->p_filesz);

			if (place)
				return place;
		}
	}
	return NULL;
}

#else

typedef void *jumped_function(uintptr_t first, uintptr_t second, uintptr_t third);

void *caller_call(uintptr_t first, uintptr_t second, uintptr_t third, const void *function,
		  const void *place)
{
	(void) place;
	return ((jumped_function *) function)(first, second, third);
}

static bool has_shadow_stack(void)
{
	return true;
}

static const void *find_place(const struct dl_phdr_info *object)
{
	(void) object;
	return NULL;
}

#endif

struct search {
	uintptr_t address;
	bool is_program;
	/* Whether another object than the program has an RPATH, which holds for what the
	 * objects load that it loads. */
	bool has_inherited;
	bool is_found;
	bool has_own;
	const void *place;
};

static bool has_entry(const struct dl_phdr_info *object, ElfW(Sxword) tag)
{
	const ElfW(Dyn) *entry = NULL;

	for (int index = 0; index < object->dlpi_phnum; index++)
		if (object->dlpi_phdr[index].p_type == PT_DYNAMIC)
			entry = (const void *) (object->dlpi_addr +
						object->dlpi_phdr[index].p_vaddr);
	for (; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return true;
	return false;
}

static bool has_address(const struct dl_phdr_info *object, uintptr_t address)
{
	for (int index = 0; index < object->dlpi_phnum; index++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[index];

		if (segment->p_type == PT_LOAD &&
		    address - object->dlpi_addr - segment->p_vaddr < segment->p_memsz)
			return true;
	}
	return false;
}

static int look_at(struct dl_phdr_info *object, size_t size, void *argument)
{
	struct search *search = argument;
	const bool has_rpath = has_entry(object, DT_RPATH);
	const bool is_program = search->is_program;

	(void) size;
	/* The program comes first. */
	if (has_rpath && !is_program)
		search->has_inherited = true;
	search->is_program = false;
	if (!has_address(object, search->address))
		return 0;
	search->is_found = true;
	/* An RPATH of the program holds for all. */
	search->has_own = (has_rpath && !is_program) || has_entry(object, DT_RUNPATH);
	search->place = find_place(object);
	return 0;
}

/* Whether the dynamic linker would look elsewhere if another object called. */
static bool matters(const struct search *search, const char *path)
{
	/* $ORIGIN is where the caller is; other objects may be in another namespace. */
	if (!search->is_found || search->has_inherited || strchr(path, '$'))
		return true;
	/* A path is not looked for, and a RUNPATH not inherited. */
	return search->has_own && !strchr(path, '/');
}

struct caller caller_find(const void *address, const char *path)
{
	struct search search = {.address = (uintptr_t) address, .is_program = true};

	if (!path || !*path)
		return (struct caller) {CALLER_DOES_NOT_MATTER, NULL};
	dl_iterate_phdr(look_at, &search);
	if (!matters(&search, path))
		return (struct caller) {CALLER_DOES_NOT_MATTER, NULL};
	if (!search.place || has_shadow_stack())
		return (struct caller) {CALLER_JUMPS, NULL};
	return (struct caller) {CALLER_RETURNS, search.place};
}
