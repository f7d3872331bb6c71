/*
 * The calls of each thread that are open, for limits of depth and duration.
 *
 * The entry of a call that may turn out to be too short is held back. It is written, with the
 * time at which it happened, when the call has lasted long enough, or when anything else is
 * written that happens in it, so that the thread's records stay in their order. Steps of
 * coroutines are not held back: who reads them must see all of them.
 */
#include "stacks.h"

#include <pthread.h>
#include <stdlib.h>

#include "arguments.h"
#include "call_events.h"
#include "event.h"
#include "places.h"

/* More than this many are written, whatever they last. */
#define MOST_HELD_BACK 256u

struct call {
	uint64_t place;
	/* When it began, by the recording's clock. */
	uint64_t since;
};

struct stack {
	/* Calls that are open, without those entered before there was a stack. */
	uint32_t depth;
	uint32_t held_count;
	/* Where the first of those is that are held back: a ring. */
	uint32_t first;
	uint16_t generation;
	struct call held[MOST_HELD_BACK];
	/* Their arguments, or NULL. */
	struct call_text *texts;
};

bool stacks_are_used;
static uint32_t most_depth = UINT32_MAX;
static uint64_t least_time;
static __thread struct stack *present FAST_THREAD_LOCAL;
static pthread_key_t key;
/* What is offered to those who record other events: they do not overtake what is held back. */
static struct vestige_tracer ordered;
static int (*begin)(const struct vestige_event *event, struct vestige_record *record, size_t size,
		    const void *ip);

static void free_stack(void *stack)
{
	present = NULL;
	free(((struct stack *) stack)->texts);
	free(stack);
}

static __attribute__((noinline, cold)) struct stack *make_stack(void)
{
	if (!present) {
		present = calloc(1, sizeof(*present));
		if (present)
			pthread_setspecific(key, present);
		if (present && least_time)
			tracer->open();
		if (present && least_time && arguments_are_recorded)
			present->texts = calloc(MOST_HELD_BACK, sizeof(*present->texts));
	}
	/* Calls that were entered before a fork are the parent's. */
	if (present) {
		present->generation = place_generation;
		present->depth = 0;
		present->held_count = 0;
	}
	return present;
}

static inline struct stack *stack_of_thread(void)
{
	return LIKELY(present && present->generation == place_generation) ? present
									  : make_stack();
}

static inline uint32_t slot_of(const struct stack *stack, uint32_t index)
{
	return (stack->first + index) % MOST_HELD_BACK;
}

static __attribute__((noinline)) void write_held_with_text(const struct stack *stack,
							   uint32_t slot)
{
	const struct call call = stack->held[slot];
	struct call_text room;

	room.size = 0;
	if (stack->texts)
		room = stack->texts[slot];
	calls_write_late_entry(call.place, call.since,
			       room.size ? &room : call_text_of_entry(NULL, &room));
}

/* Write the first ones of the entries that are held back. */
static void write_held(struct stack *stack, uint32_t count)
{
	const uint32_t left = stack->held_count - count;

	/* To write them may come back here, and then all are written. */
	while (stack->held_count > left) {
		const uint32_t slot = stack->first;

		stack->first = slot_of(stack, 1);
		stack->held_count--;
		if (UNLIKELY(arguments_are_recorded))
			write_held_with_text(stack, slot);
		else
			calls_write_late_entry(stack->held[slot].place, stack->held[slot].since,
					       NULL);
	}
}

/* How many of them have lasted long enough: callers come first. */
static uint32_t count_long(const struct stack *stack, uint64_t now)
{
	uint32_t count = 0;

	while (count < stack->held_count &&
	       now - stack->held[slot_of(stack, count)].since >= least_time)
		count++;
	return count;
}

static int begin_in_order(const struct vestige_event *event, struct vestige_record *record,
			  size_t size, const void *ip)
{
	if (present && present->held_count && present->generation == place_generation)
		write_held(present, present->held_count);
	return begin(event, record, size, ip);
}

void stacks_limit(uint32_t depth, uint64_t least)
{
	if (depth)
		most_depth = depth;
	/* An older tracer cannot write what has happened before. */
	if (least && tracer->struct_size >= sizeof(*tracer)) {
		least_time = least;
		ordered = *tracer;
		begin = tracer->begin;
		ordered.begin = begin_in_order;
		tracer = &ordered;
	}
	stacks_are_used = (depth || least_time) && pthread_key_create(&key, free_stack) == 0;
}

/* Note a call; whether it is not too deep. */
static bool push(struct stack *stack)
{
	return stack && stack->depth++ < most_depth;
}

/* Note the end of a call; whether it was not too deep. What was entered earlier is none. */
static bool pop(struct stack *stack)
{
	return stack && stack->depth && --stack->depth < most_depth;
}

static void hold_back(struct stack *stack, struct call call, const struct call_frame *frame)
{
	const uint32_t slot = slot_of(stack, stack->held_count++);

	stack->held[slot] = call;
	if (UNLIKELY(stack->texts))
		call_text_of_entry(frame, &stack->texts[slot]);
}

void stacks_enter(uint64_t place, const struct call_frame *frame)
{
	struct stack *stack = stack_of_thread();
	uint64_t now;

	if (!push(stack) || !place)
		return;
	if (!least_time) {
		calls_write_entry(place, frame);
		return;
	}
	now = tracer->now();
	/* What is long already is written as soon as that can be known. */
	if (UNLIKELY(stack->held_count == MOST_HELD_BACK))
		write_held(stack, stack->held_count);
	else if (UNLIKELY(count_long(stack, now)))
		write_held(stack, count_long(stack, now));
	hold_back(stack, (struct call) {place, now}, frame);
}

void stacks_leave(uint64_t place, const struct call_end *end)
{
	struct stack *stack = stack_of_thread();

	if (!pop(stack) || !place)
		return;
	if (stack->held_count) {
		const uint32_t last = slot_of(stack, stack->held_count - 1);

		if (tracer->now() - stack->held[last].since < least_time) {
			stack->held_count--;
			return;
		}
		write_held(stack, stack->held_count);
	}
	calls_write_exit(place, end);
}

void stacks_enter_step(uint64_t place, const void *id, bool is_resumed,
		       const struct call_frame *frame)
{
	if (push(stack_of_thread()) && place)
		calls_write_step_entry(place, id, is_resumed, frame);
}

void stacks_leave_step(uint64_t place, const void *id, bool is_suspended,
		       const struct call_end *end)
{
	if (pop(stack_of_thread()) && place)
		calls_write_step_exit(place, id, is_suspended, end);
}
