/*
 * Where a program calls from.
 *
 * Most tracepoints are passed at one place, again and again. To know it again takes the code
 * object and the instruction, which the limited API tells with three calls. In the versions whose
 * frames are known, two loads tell both.
 */
#include "sites.h"

#include "codes.h"
#include "frame_layout.h"
#include "places.h"

/* Of a frame of the interpreter: where its code object is; negative in versions whose frames are
 * others. The instruction is at the same place in all of these. */
static ptrdiff_t code_offset = -1;

void sites_start(void)
{
	const long minor = minor_version();

	if (minor == 11)
		code_offset = CODE_OFFSET;
	else if (minor == 12 || minor == 13)
		code_offset = 0;
}

static const void *load(const struct frame *frame, ptrdiff_t offset)
{
	return *(const void *const *) (const void *) ((const char *) frame + offset);
}

/* Look it up, and note it where frames look as they should. */
static __attribute__((noinline, cold)) uint64_t look_up(PyFrameObject *object, struct site *last,
							const struct site *seen)
{
	PyObject *code = (PyObject *) PyFrame_GetCode(object);
	const uint64_t place = place_of_frame(object);

	/* Without a place, the code object may be gone unnoticed. */
	if (place && code == seen->code) {
		*last = *seen;
		last->place = place;
		last->changes = codes_changes;
	}
	Py_DECREF(code);
	return place;
}

uint64_t site_of_caller(struct site *last)
{
	PyFrameObject *object = PyEval_GetFrame();
	const struct frame *frame;
	struct site seen;

	if (UNLIKELY(!object))
		return 0;
	if (UNLIKELY(code_offset < 0 || !places_are_told()))
		return place_of_frame(object);
	frame = frame_of_object(object);
	seen.code = load(frame, code_offset);
	seen.instruction = load(frame, INSTRUCTION_OFFSET);
	if (LIKELY(seen.code == last->code && seen.instruction == last->instruction &&
		   last->changes == codes_changes))
		return last->place;
	return look_up(object, last, &seen);
}
