/*
 * Calls of functions whose entries lead to us.
 *
 * At the entry, the return address goes to the shadow of its place, and the address of exit_stub()
 * takes its place, see stubs.c. So the function returns to exit_stub(), which returns to where the
 * function would have. The shadow is written first: an unwinder that a handler starts in between
 * finds either.
 *
 * A function that ends by jumping to another one leaves its return address to it: the place has
 * exit_stub() already. Both end when that returns. Calls that are left without returning end when
 * the thread is seen further up its stack.
 *
 * Where ends of calls are not wanted, or the processor compares return addresses with a stack of its own
 * (CET), they stay as they are; so they do where stacks are copied.
 *
 * Compilers keep values in any register across calls of functions that they know (-fipa-ra), so all are left
 * as they are, but for the flags. What is not recorded the usual way may use vector registers, which
 * are kept for it.
 */
#include "general_registers.h"

#include "calls.h"

#include <stdint.h>

#include "../base/settings.h"
#include "../base/system.h"
#include "../hooks/functions.h"
#include "../stream/section.h"
#include "chains.h"
#include "frames.h"
#include "library_call.h"
#include "losing.h"
#include "missing_plan.h"
#include "plain_hit.h"
#include "probes.h"
#include "shadow.h"
#include "stubs.h"
#include "thunk.h"
#include "vectors.h"

#if defined(__x86_64__)

/* Bytes of the usual record of an exit; that of an entry has a place more. */
#define USUAL_EXIT_SIZE (COMPACT_HEADER_SIZE + PLACE_SIZE + ID_SIZE)
/* `call` with a distance, and through a slot; what may come before it at an entry. */
#define CALL 0xE8
#define CALL_SIZE 5
#define CALL_BY_SLOT 0x15FF
#define CALL_BY_SLOT_SIZE 6
#define BRANCH_TARGET 0xFA1E0FF3
#define BRANCH_TARGET_SIZE 4
#define PAGE_BYTES 4096
/* With the address of a function, which has fewer bits: what is recorded of it is a probe's. */
#define PROBED ((uintptr_t) 1 << SHADOW_ADDRESS_BITS)

/* See "CET Shadow Stack" in the kernel's documentation. */
#define SHADOW_STACK_STATUS 0x5005
#define SHADOW_STACK_IS_ON 1ul

/* Whether return addresses are replaced. */
static bool has_exits;
/* Whether the program has copies of its stacks: at the place of a return address that was replaced,
 * another call may come to have its own. Those that were replaced before stay where they are, as the
 * calls are outside of all that is copied. */
static bool is_copied;

/* What stubs call, with the place of the return address: whether exit_stub() is to take it. */
bool calls_function_entered(const uintptr_t *slot) HIDDEN;
bool calls_probe_entered(const uintptr_t *slot) HIDDEN;
bool calls_fentry_entered(const uintptr_t *slot) HIDDEN;
bool calls_library_entered(uintptr_t *slot) HIDDEN;
/* What exit_stub() calls: where the function would have returned to. */
uintptr_t calls_left(const uintptr_t *slot) HIDDEN;

/* What finds no room, or is not recorded the usual way. */
static APART void record_entry_otherwise(void *function, void *call_site)
{
	if (settings.on_entry == FUNCTIONS_USUAL && losing_counts(USUAL_EXIT_SIZE + PLACE_SIZE))
		return;
	if (settings.on_entry != FUNCTIONS_OFF)
		vectors_keep(function_entered, function, call_site);
}

static APART void record_library_entry_otherwise(void *function, void *call_site)
{
	if (settings.on_library_entry == FUNCTIONS_USUAL &&
	    losing_counts(USUAL_EXIT_SIZE + PLACE_SIZE))
		return;
	if (settings.on_library_entry != FUNCTIONS_OFF)
		vectors_keep(library_function_entered, function, call_site);
}

static APART void record_exit_otherwise(void *function, void *call_site)
{
	if (settings.on_library_exit == FUNCTIONS_USUAL && losing_counts(USUAL_EXIT_SIZE))
		return;
	if (settings.on_library_exit != FUNCTIONS_OFF)
		vectors_keep(library_function_left, function, call_site);
}

static INLINED void record_entry(void *function, void *call_site)
{
	if (UNLIKELY(settings.on_entry != FUNCTIONS_USUAL) ||
	    UNLIKELY(!section_append_usual(EVENT_FAST_ENTRY, function, true)))
		record_entry_otherwise(function, call_site);
}

static INLINED void record_library_entry(void *function, void *call_site)
{
	if (UNLIKELY(settings.on_library_entry != FUNCTIONS_USUAL) ||
	    UNLIKELY(!section_append_usual(EVENT_FAST_ENTRY, function, true)))
		record_library_entry_otherwise(function, call_site);
}

/* Of a function of a library or any other: what is not wanted has no end here. */
static INLINED void record_exit(void *function, void *call_site)
{
	if (UNLIKELY(settings.on_library_exit != FUNCTIONS_USUAL) ||
	    UNLIKELY(!section_append_usual(EVENT_FAST_EXIT, function, false)))
		record_exit_otherwise(function, call_site);
}

/* Keep the low halves of the registers that have arguments. */
static INLINED void read_vectors(uint64_t *vectors)
{
#define READ(number) __asm__ volatile("movq %%xmm" #number ", %0" : "=m"(vectors[number]))
	READ(0);
	READ(1);
	READ(2);
	READ(3);
	READ(4);
	READ(5);
	READ(6);
	READ(7);
#undef READ
}

/* Hand a hit over. The registers are where SAVE has put them, down from the one of rax; nothing
 * of ours has used vector registers yet. */
static APART void hit_probe(const struct probe_event *event, uintptr_t function,
			    const uintptr_t *rax, uintptr_t stack)
{
	struct probe_hit hit;

	if (!event->point.state)
		return;
	hit.event = event;
	hit.function = function;
	hit.stack = stack;
	hit.general[0] = rax[0];
	hit.general[1] = rax[-2];
	hit.general[2] = rax[-1];
	hit.general[3] = 0;
	hit.general[4] = rax[-3];
	hit.general[5] = rax[-4];
	hit.general[6] = rax[-9];
	hit.general[7] = stack - sizeof(uintptr_t);
	for (int number = 8; number < 12; number++)
		hit.general[number] = rax[3 - number];
	if (event->has_vectors)
		read_vectors(hit.vectors);
	if (UNLIKELY(!plain_hit_record(&hit)))
		vectors_keep(probe_record, &hit, NULL);
}

/* Record that a function with a probe is left; without a slot, by a jump: what it gives is not
 * known. */
static APART void leave_probed(uintptr_t function, uintptr_t return_address,
			       const uintptr_t *slot)
{
	const struct probe *probe = probes_find(function);

	if (slot && probe && (probe->flags & PROBE_HAS_RESULT))
		hit_probe(&probe->exit, function, slot - 1, (uintptr_t) (slot + 1));
	if (!probe || (probe->flags & PROBE_HAS_CALLS))
		record_exit((void *) function, (void *) return_address);
}

static INLINED void leave(uintptr_t function, uintptr_t return_address, const uintptr_t *slot)
{
	if (UNLIKELY(function & PROBED))
		leave_probed(function & ~PROBED, return_address, slot);
	else
		record_exit((void *) function, (void *) return_address);
}

/* Record that a function, or all those of a chain, are left. */
static APART void record_exits(uintptr_t function, uintptr_t return_address,
			       const uintptr_t *slot)
{
	while (is_chain(function) && function) {
		const uintptr_t innermost = chain_take(&function);

		leave(innermost, return_address, slot);
	}
	if (function)
		leave(function, return_address, slot);
}

/* Those that were left otherwise, as is seen at a slot. */
static void record_abandoned(uintptr_t slot, bool is_begin)
{
	struct abandoned_call call;

	while (frames_take_abandoned(slot, is_begin, &call))
		record_exits(call.function, call.return_address, NULL);
}

static APART uintptr_t link_elsewhere(uintptr_t slot, uintptr_t function)
{
	record_abandoned(slot, true);
	return frames_link_elsewhere(slot, function);
}

/* Record that a function is entered, unless its probe does that. */
static INLINED void begin(uintptr_t function, uintptr_t return_address, bool is_library)
{
	if (is_library)
		record_library_entry((void *) function, (void *) return_address);
	else if (LIKELY(!(function & PROBED)))
		record_entry((void *) function, (void *) return_address);
}

static APART void enter_by_jump(struct shadow *shadow, uintptr_t function, bool is_library)
{
	const uintptr_t word = shadow->function;
	const uintptr_t outer = word & FRAME_FUNCTION_MASK;
	/* One that was taken for abandoned ended then. */
	uintptr_t open = outer ? chain_add(outer, function) : function;

	if (!open) {
		/* Then the others end where this one begins. */
		record_exits(outer, shadow->return_address, NULL);
		open = function;
	}
	shadow->function = (word & ~FRAME_FUNCTION_MASK) | open;
	begin(function, shadow->return_address, is_library);
}

static APART void leave_otherwise(const uintptr_t *place, uintptr_t return_address,
				  uintptr_t word)
{
	const uintptr_t slot = (uintptr_t) place;

	/* Where it has ended already, calls around it are innermost. */
	if (!(word & FRAME_FUNCTION_MASK))
		return;
	if (frames.innermost != slot)
		record_abandoned(slot, false);
	frames_end_elsewhere(slot, word);
	record_exits(word & FRAME_FUNCTION_MASK, return_address, place);
}

/* Record an entry; whether the function is to return to exit_stub(). */
static INLINED bool enter(const uintptr_t *slot, uintptr_t function, bool is_library)
{
	const enum function_tracing on_exit =
		is_library ? settings.on_library_exit : settings.on_exit;
	const uintptr_t return_address = *slot;
	struct shadow *shadow;
	uintptr_t word;

	if (!has_exits || (on_exit == FUNCTIONS_OFF && !(function & PROBED))) {
		begin(function, return_address, is_library);
		return false;
	}
	shadow = shadow_of((uintptr_t) slot);
	if (UNLIKELY(!shadow)) {
		/* As of library calls that keep their return address: so call trees stay whole. */
		begin(function, return_address, is_library);
		leave(function, return_address, NULL);
		return false;
	}
	if (UNLIKELY(return_address == (uintptr_t) exit_stub)) {
		enter_by_jump(shadow, function, is_library);
		return false;
	}
	if (!frames_link((uintptr_t) slot, function, &word))
		word = link_elsewhere((uintptr_t) slot, function);
	shadow->return_address = return_address;
	shadow->function = word;
	begin(function, return_address, is_library);
	frames_begin((uintptr_t) slot, word);
	return true;
}

bool calls_function_entered(const uintptr_t *slot)
{
	return enter(slot, thunk_at(slot[STUB_NEXT])->function, false);
}

bool calls_probe_entered(const uintptr_t *slot)
{
	const uintptr_t function = thunk_at(slot[STUB_NEXT])->function;
	bool is_replaced = false;
	const struct probe *probe = probes_find(function);
	const bool is_called = !probe || (probe->flags & PROBE_HAS_CALLS);
	uintptr_t return_address = *slot;

	if (return_address == (uintptr_t) exit_stub)
		return_address = shadow_at((uintptr_t) slot)->return_address;
	if (is_called || (probe->flags & PROBE_HAS_RESULT))
		is_replaced = enter(slot, function | PROBED, false);
	if (is_called)
		record_entry((void *) function, (void *) return_address);
	if (probe && (probe->flags & PROBE_HAS_ENTRY))
		hit_probe(&probe->entry, function, slot - 2, (uintptr_t) (slot + 1));
	return is_replaced;
}

bool calls_library_entered(uintptr_t *slot)
{
	const struct library_call *call = library_call_of(slot[STUB_NEXT]);
	const uintptr_t function = call->function;
	void *const address = (void *) (function & ~LIBRARY_CALL_PASSES);

	slot[STUB_NEXT] = call->target;
	if (LIKELY(!(function & LIBRARY_CALL_PASSES)))
		return enter(slot, function, true);
	record_library_entry(address, (void *) *slot);
	if (has_exits)
		record_exit(address, (void *) *slot);
	return false;
}

uintptr_t calls_left(const uintptr_t *slot)
{
	const struct shadow *shadow = shadow_at((uintptr_t) slot);
	const uintptr_t return_address = shadow->return_address;
	const uintptr_t word = shadow->function;

	if (UNLIKELY(is_chain(word & FRAME_FUNCTION_MASK)) ||
	    UNLIKELY(!frames_end((uintptr_t) slot, word)))
		leave_otherwise(slot, return_address, word);
	else
		leave(word & FRAME_FUNCTION_MASK, return_address, slot);
	return return_address;
}

/* Where a function begins that calls __fentry__() before all else. */
static uintptr_t function_of(uintptr_t back)
{
	const unsigned char *code = (const unsigned char *) back;
	uint32_t mark;
	uint16_t by_slot;
	uintptr_t start = back - CALL_SIZE;

	if (code[-CALL_SIZE] != CALL) {
		__builtin_memcpy(&by_slot, code - CALL_BY_SLOT_SIZE, sizeof(by_slot));
		if (by_slot != CALL_BY_SLOT)
			return back;
		start = back - CALL_BY_SLOT_SIZE;
	}
	/* What is in front of a page may not be there. */
	if (start % PAGE_BYTES < BRANCH_TARGET_SIZE)
		return start;
	__builtin_memcpy(&mark, (const void *) (start - BRANCH_TARGET_SIZE), sizeof(mark));
	return mark == BRANCH_TARGET ? start - BRANCH_TARGET_SIZE : start;
}

static bool has_shadow_stack(void)
{
	unsigned long features = 0;

	return system_call(SYS_arch_prctl, SHADOW_STACK_STATUS, (long) &features, 0, 0, 0, 0) ==
		0 &&
		(features & SHADOW_STACK_IS_ON);
}

const char *calls_lack_exits(void)
{
	if (has_exits || settings.on_library_exit == FUNCTIONS_OFF)
		return NULL;
	return is_copied ? UNPATCHED_COPIES : UNPATCHED_SHADOW;
}

bool calls_leave_returns(void)
{
	const bool had_exits = has_exits;

	is_copied = true;
	has_exits = false;
	return had_exits;
}

bool calls_start(void)
{
	vectors_start();
	if (!shadow_start())
		return false;
	has_exits = !is_copied && !has_shadow_stack();
	return true;
}

static APART void tell_of_copies(void *unused, void *unused_too)
{
	(void) unused;
	(void) unused_too;
	missing_plan_tell(UNPATCHED_COPIES, "");
}

/* At the first of them nobody has looked yet what is in the program. */
static APART bool start_with_fentry(void)
{
	if (!settings.is_recording || !calls_start())
		return false;
	if (is_copied && settings.on_library_exit != FUNCTIONS_OFF)
		vectors_keep(tell_of_copies, NULL, NULL);
	return true;
}

bool calls_fentry_entered(const uintptr_t *slot)
{
	if (UNLIKELY(!shadow_blocks) && !start_with_fentry())
		return false;
	return enter(slot, function_of(slot[STUB_NEXT]), false);
}

#else

bool calls_start(void)
{
	return false;
}

const char *calls_lack_exits(void)
{
	return NULL;
}

bool calls_leave_returns(void)
{
	return false;
}

#endif

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif
