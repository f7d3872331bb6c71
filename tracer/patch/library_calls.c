/*
 * Recording calls of functions in libraries: where it begins, and what becomes of each.
 *
 * A caller reaches a function of another object through a slot, which the dynamic linker fills in
 * when it relocates the caller or, for slots of the procedure linkage table, at the first call.
 * Slots that are filled in when the tracer begins are changed then. Of those that are filled in
 * later, the auditing library tells before it happens; the dynamic linker stores what it is
 * answered. The hooks for calls that auditing libraries may have are never used: they cost
 * over 100 ns a call.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "../agreement/agreement.h"
#include "../base/loader.h"
#include "../base/refusal.h"
#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/tracing.h"
#include "../stream/record.h"
#include "called_slots.h"
#include "calls.h"
#include "imports.h"
#include "library_choice.h"
#include "library_thunks.h"
#include "stubs.h"
#include "thunks.h"

#if defined(__x86_64__)

#define PAGE_SIZE 4096u
#define MOST_OBJECTS 4096u
#define MOST_SLOTS 65536u
/* What an entry that leads to a thunk begins with. */
#define JUMP 0xE9

/* The objects that are there at the start, in the order in which names are looked up. */
struct objects {
	struct linked *all;
	size_t count;
	size_t size;
};

/* Those stay until the process ends. */
static struct objects at_start;
/* Whether functions may be bound to thunks: the dynamic linker asks before we are relocated. */
static volatile bool is_ready;

/* A function that a slot leads to. */
struct found {
	const struct linked *object;
	/* What is recorded as its address. */
	uintptr_t function;
};

static int count_object(struct dl_phdr_info *info, size_t size, void *count)
{
	(void) info;
	(void) size;
	++*(size_t *) count;
	return 0;
}

static int add_object(struct dl_phdr_info *info, size_t size, void *data)
{
	struct objects *objects = data;

	(void) size;
	if (objects->count == objects->size)
		return 1;
	objects->count += linked_read(&objects->all[objects->count], info);
	return 0;
}

static const struct linked *object_at(const struct objects *objects, uintptr_t address)
{
	for (size_t index = 0; index < objects->count; index++)
		if (address >= objects->all[index].start && address < objects->all[index].end)
			return &objects->all[index];
	return NULL;
}

/* The symbol of an object that has a name and leads to an address: by itself, or by code that
 * chooses one (STT_GNU_IFUNC), if that may be. */
static bool find_in(const struct linked *object, const char *name, uintptr_t address,
		    bool is_chosen, struct found *found)
{
	const ElfW(Sym) *symbol = find_function(object, name, address);

	if (!symbol || (is_chosen && ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC))
		return false;
	*found = (struct found) {object, object->bias + symbol->st_value};
	return true;
}

/*
 * Find the function that a slot leads to. Its name comes first: what is called may be one of
 * several forms of it, which have no names in stripped libraries or are elsewhere, as in the
 * vDSO; or it stands in for a function of a library, and is ours.
 */
static bool find_target(const struct objects *objects, const char *name, uintptr_t address,
			struct found *found)
{
	const struct linked *there = object_at(objects, address);
	const bool is_ours = there && library_choice_is_ours(there->name);

	if (!there || (!is_ours && find_in(there, name, address, false, found)))
		return there;
	for (size_t index = 0; index < objects->count; index++) {
		const struct linked *object = &objects->all[index];

		if (!library_choice_is_ours(object->name) &&
		    find_in(object, name, is_ours ? 0 : address, !is_ours, found))
			return true;
	}
	*found = (struct found) {there, address};
	return !is_ours;
}

/* Whether a function begins with a jump to a thunk that records it. */
static bool is_patched(uintptr_t function)
{
	const uint8_t *code = (const uint8_t *) function;
	int32_t distance;

	/* No byte is read after the end of an instruction: the page may end there. */
	if (code[0] == 0xF3 && code[1] == 0x0F && code[2] == 0x1E && code[3] == 0xFA)
		code += 4;
	if (*code != JUMP)
		return false;
	memcpy(&distance, code + 1, sizeof(distance));
	return thunks_stub_of(code + 1 + sizeof(distance) + distance) ==
		(uintptr_t) stub_function;
}

/* Tell by which name a function is called: debug information has the one that its source has, and
 * symbol tables may have several. */
static void tell_name(uintptr_t function, const char *name)
{
	const size_t size = strlen(name) + 1;
	struct record record;

	if (!record_begin(&record, (struct destination) {0, EVENT_LIBRARY_FUNCTION},
			  (const void *) function, LIBRARY_FUNCTION_FIELDS_SIZE(size)))
		return;
	record.at = encode_library_function(record.at, function, name, size);
	record_commit(&record);
}

/* Whether a thunk could not be made; then no other is tried. */
static bool lacks_thunks;

/* Code that was written may not be executed where a policy forbids that. */
static void miss_thunk(void)
{
	if (!__atomic_exchange_n(&lacks_thunks, true, __ATOMIC_RELAXED) &&
	    !__atomic_load_n(&library_blocks[0], __ATOMIC_ACQUIRE))
		refusal_write(settings.directory, UNPATCHED_MARK, UNPATCHED_POLICY, NULL);
}

/* What a slot is to hold in place of a function: 0 for what is there. */
static uintptr_t answer(const char *name, const char *library, uintptr_t function,
			uintptr_t target)
{
	const enum library_treatment treatment = library_choice_treats(name, library);
	struct library_call call = {function, target};
	uintptr_t thunk;
	bool is_new;

	if (treatment == LIBRARY_LEFT || is_patched(target) ||
	    __atomic_load_n(&lacks_thunks, __ATOMIC_RELAXED))
		return 0;
	if (treatment == LIBRARY_PASSES)
		call.function |= LIBRARY_CALL_PASSES;
	thunk = library_thunk(&call, &is_new);
	if (!thunk)
		miss_thunk();
	else if (is_new)
		tell_name(function, name);
	return thunk;
}

/* What a slot that is filled in is to hold. */
static uintptr_t answer_slot(const struct objects *objects, const struct linked *caller,
			     const char *name, uintptr_t target)
{
	struct found found;

	/* Not yet bound, or bound to the object itself: that is no call of a library. */
	if (!target || (target >= caller->start && target < caller->end) ||
	    library_thunk_is_at(target) || !find_target(objects, name, target, &found))
		return 0;
	if (library_choice_takes_caller(found.object->name) && imports_hooks(found.object))
		return 0;
	return answer(name, found.object->name, found.function, target);
}

static bool protect(const struct linked *object, int protection)
{
	const uintptr_t start = object->sealed_start & -(uintptr_t) PAGE_SIZE;
	const uintptr_t end = object->sealed_end & -(uintptr_t) PAGE_SIZE;

	return end <= start ||
		system_call(SYS_mprotect, (long) start, (long) (end - start), protection, 0, 0,
			    0) == 0;
}

/* An object whose slots are changed. */
struct changing {
	const struct objects *objects;
	const struct linked *caller;
	/* Whether slots that had become read-only can be written. */
	bool is_open;
	/* Of those that are not in the procedure linkage table. */
	struct slot_uses uses;
};

/* Change a slot if it leads to a function that is recorded; false where it cannot be written. */
static bool change_slot(struct changing *changing, const ElfW(Rela) *relocation)
{
	const struct linked *caller = changing->caller;
	uintptr_t *slot = (uintptr_t *) (caller->bias + relocation->r_offset);
	const uintptr_t thunk =
		answer_slot(changing->objects, caller, import_name(caller, relocation), *slot);

	if (!thunk)
		return true;
	if (!changing->is_open && !protect(caller, PROT_READ | PROT_WRITE))
		return false;
	changing->is_open = true;
	__atomic_store_n(slot, thunk, __ATOMIC_RELEASE);
	return true;
}

static bool is_slot(const ElfW(Rela) *relocation)
{
	return ELF64_R_TYPE(relocation->r_info) == R_X86_64_GLOB_DAT &&
		ELF64_R_SYM(relocation->r_info);
}

/* Find the slots that are not in the procedure linkage table, and how code uses them. */
static bool find_uses(struct changing *changing)
{
	const struct linked *caller = changing->caller;
	struct slot_uses *uses = &changing->uses;
	uintptr_t end = 0;

	uses->start = UINTPTR_MAX;
	for (size_t index = 0; index < caller->others_count; index++) {
		const uintptr_t slot = caller->bias + caller->others[index].r_offset;

		if (!is_slot(&caller->others[index]))
			continue;
		if (slot < uses->start)
			uses->start = slot;
		if (slot + sizeof(slot) > end)
			end = slot + sizeof(slot);
	}
	if (end <= uses->start || (end - uses->start) / sizeof(uintptr_t) > MOST_SLOTS)
		return false;
	uses->count = (end - uses->start) / sizeof(uintptr_t);
	uses->uses = system_mmap(NULL, uses->count, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!uses->uses)
		return false;
	for (size_t index = 0; index < caller->code_count; index++)
		called_slots_find(uses, caller->code[index].start, caller->code[index].end);
	return true;
}

/* Change those that are only called through. */
static bool change_called(struct changing *changing)
{
	const struct linked *caller = changing->caller;
	const struct slot_uses *uses = &changing->uses;
	bool is_done = true;

	if (!find_uses(changing))
		return true;
	for (size_t index = 0; index < caller->others_count && is_done; index++) {
		const ElfW(Rela) *relocation = &caller->others[index];
		const uintptr_t slot = caller->bias + relocation->r_offset;

		if (is_slot(relocation) &&
		    uses->uses[(slot - uses->start) / sizeof(slot)] == SLOT_CALLED)
			is_done = change_slot(changing, relocation);
	}
	system_munmap(uses->uses, uses->count);
	return is_done;
}

/* Change the slots of an object that are filled in; NULL, or why not. */
static const char *change_slots(const struct objects *objects, const struct linked *caller)
{
	struct changing changing = {.objects = objects, .caller = caller};
	bool is_done = true;

	for (size_t index = 0; index < caller->calls_count && is_done; index++)
		if (ELF64_R_TYPE(caller->calls[index].r_info) == R_X86_64_JUMP_SLOT)
			is_done = change_slot(&changing, &caller->calls[index]);
	is_done = is_done && change_called(&changing);
	if (changing.is_open)
		protect(caller, PROT_READ);
	return is_done ? NULL : UNPATCHED_POLICY;
}

static bool read_objects(struct objects *objects)
{
	dl_iterate_phdr(count_object, &objects->size);
	if (objects->size > MOST_OBJECTS)
		objects->size = MOST_OBJECTS;
	objects->all = system_mmap(NULL, objects->size * sizeof(*objects->all),
				   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (objects->all)
		dl_iterate_phdr(add_object, objects);
	return objects->all;
}

static void change_all(const struct objects *objects)
{
	for (size_t index = 0; index < objects->count; index++) {
		const struct linked *caller = &objects->all[index];
		const char *reason;

		if (!library_choice_takes_caller(caller->name))
			continue;
		reason = change_slots(objects, caller);
		if (reason)
			refusal_write(settings.directory, UNPATCHED_MARK, reason,
				      *caller->name ? caller->name : NULL);
	}
}

EXPORTED binding_function vestige_binding;

/* In any thread, and in handlers. */
uintptr_t vestige_binding(const struct link_map *from, const struct link_map *to,
			  const ElfW(Sym) *symbol, uintptr_t address, const char *name)
{
	uintptr_t function = to->l_addr + symbol->st_value;
	const char *library = to->l_name;
	struct linked object;
	struct found found;
	uintptr_t thunk;

	if (!is_ready || from == to || !library_choice_takes_caller(from->l_name))
		return address;
	if (library_choice_is_ours(library)) {
		if (!find_target(&at_start, name, address, &found))
			return address;
		function = found.function;
		library = found.object->name;
	}
	if (library_choice_takes_caller(library) && linked_read_map(&object, to) &&
	    imports_hooks(&object))
		return address;
	thunk = answer(name, library, function, address);
	return thunk ? thunk : address;
}

static void begin(void)
{
	const char *reason;

	if (!calls_start() || !read_objects(&at_start))
		return;
	reason = calls_lack_exits();
	if (reason)
		refusal_write(settings.directory, UNPATCHED_MARK, reason, NULL);
	change_all(&at_start);
	is_ready = true;
}

/* After entries were rewritten: what is recorded there is not recorded twice. */
static __attribute__((constructor(103))) void start(void)
{
	signals before;

	if (!settings.is_recording ||
	    (settings.on_library_entry == FUNCTIONS_OFF &&
	     settings.on_library_exit == FUNCTIONS_OFF) ||
	    !library_choice_start())
		return;
	before = system_block_signals();
	begin();
	system_restore_signals(before);
}

#endif
