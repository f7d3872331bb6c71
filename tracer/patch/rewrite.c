/*
 * Rewriting the entries of functions.
 *
 * The kernel writes, through /proc/self/mem, into pages that stay executable and never become
 * writable. Whole pages are written: a call of the kernel for each function would take longer than
 * all else.
 */
#define _GNU_SOURCE
#include "rewrite.h"

#include <string.h>

#include "../base/system.h"

#define MEMORY_FILE "/proc/self/mem"
#define PAGE_SIZE 4096u
#define WINDOW_SIZE (16 * PAGE_SIZE)
#define JUMP 0xE9
/* Where nothing may be executed: int3. */
#define TRAP 0xCC

/* Pages that are being changed. */
struct window {
	int file;
	uintptr_t start;
	size_t size;
	uint8_t bytes[WINDOW_SIZE];
};

static bool flush(struct window *window)
{
	const long written = !window->size
		? 0
		: system_call(SYS_pwrite64, window->file, (long) window->bytes,
			      (long) window->size, (long) window->start, 0, 0);

	if (written != (long) window->size)
		return false;
	window->size = 0;
	return true;
}

/* Have the bytes from a place on in the window, and the pages between. */
static uint8_t *reach(struct window *window, uintptr_t place, size_t size)
{
	const uintptr_t end = (place + size + PAGE_SIZE - 1) & ~(uintptr_t) (PAGE_SIZE - 1);

	if (window->size &&
	    (place > window->start + window->size ||
	     end - window->start > sizeof(window->bytes)) &&
	    !flush(window))
		return NULL;
	if (!window->size)
		window->start = place & ~(uintptr_t) (PAGE_SIZE - 1);
	if (end > window->start + window->size) {
		memcpy(window->bytes + window->size,
		       (const void *) (window->start + window->size),
		       end - window->start - window->size);
		window->size = end - window->start;
	}
	return window->bytes + (place - window->start);
}

static bool write_all(struct window *window, const struct plan *plan, const struct thunks *thunks,
		      uintptr_t bias, bool restores)
{
	struct plan_entry entry;
	size_t next = 0;
	size_t at = 0;

	while (plan_next(plan, &next, &entry)) {
		const uintptr_t place = bias + entry.function->place;
		const uintptr_t code = thunks_next(thunks, &at, &entry);
		const size_t size = entry.function->replaced_size;
		uint8_t *bytes = reach(window, place, size);

		if (!bytes)
			return false;
		if (restores) {
			memcpy(bytes, entry.function->replaced, size);
			continue;
		}
		memset(bytes, TRAP, size);
		bytes[0] = JUMP;
		if (!thunks_put_distance(bytes + 1, place + 1, code))
			return false;
	}
	return flush(window);
}

bool rewrite_entries(const struct plan *plan, const struct thunks *thunks, uintptr_t bias)
{
	/* One thread is here, once for each object. */
	static struct window window;
	bool is_done;

	window.size = 0;
	window.file = system_open(MEMORY_FILE, O_RDWR);
	if (window.file < 0)
		return false;
	is_done = write_all(&window, plan, thunks, bias, false);
	if (!is_done) {
		/* What was written before it was refused. */
		window.size = 0;
		write_all(&window, plan, thunks, bias, true);
	}
	system_close(window.file);
	return is_done;
}
