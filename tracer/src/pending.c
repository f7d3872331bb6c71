/*
 * Records that are reserved and not yet committed, when there is more than one.
 *
 * Signal handlers end in the order opposite to that in which they came, so the record that
 * was reserved first is committed last, and all behind it are complete by then. But a
 * handler may leave by siglongjmp(), so that a record is never written; and it may switch to
 * another coroutine, so that records are completed in any order. So those behind the first
 * are counted while they are incomplete, and content_size moves over them at once when none
 * is left.
 */
#include "pending.h"
#include "system.h"

/* The class of the filler for a record of this payload; the largest for none. */
static enum event_class filler_class(size_t payload)
{
	return payload == 0               ? EVENT_ABANDONED
		: payload == PLACE_SIZE     ? EVENT_ABANDONED_PLACE
		: payload == 2 * PLACE_SIZE ? EVENT_ABANDONED_PLACES
					    : EVENT_CLASSES;
}

/*
 * Write a record that says nothing over the place of one that never came.
 *
 * If the program goes back to that one, it is written over this, from anywhere in the middle
 * on: so nothing here depends on bytes behind the header, which it writes with one store, or
 * with several that all store the same but for the class.
 */
static bool fill(struct stream *stream, char *start, size_t size, uint64_t time)
{
	const size_t compact = COMPACT_HEADER_SIZE + settings.context_size;
	const size_t extended = EXTENDED_HEADER_SIZE + settings.context_size;
	struct record record = {.stream = stream, .start = start, .at = start};
	enum event_class class = size < compact ? EVENT_CLASSES : filler_class(size - compact);

	if (class != EVENT_CLASSES) {
		write_u32(&record, compact_header(class, time));
	} else {
		class = size < extended ? EVENT_CLASSES : filler_class(size - extended);
		if (class == EVENT_CLASSES)
			return false;
		write_u8(&record, HEADER_EXTENDED);
		write_u32(&record, class);
		write_u64(&record, time);
	}
	write_contexts(&record, NULL);
	memset(record.at, 0, (size_t) (start + size - record.at));
	return true;
}

/* Put a filler in the place of the pending record, and commit what lies behind it. */
static void give_up(struct stream *stream)
{
	struct packet *packet = stream->packet;
	const size_t offset = packet->content_size / 8;
	const size_t size = stream->pending & ((1u << PENDING_SIZE_BITS) - 1);
	const uint64_t time = stream->pending_time;
	char *start = (char *) packet + offset;

	/* Code that was interrupted in front of its reservation may have told of another
	 * record here. Then what lies behind waits for the end of the packet. */
	if (!size || stream->pending != pending_word(time, offset, size) ||
	    start + size > stream->next || time < packet->timestamp_end || time > clock_read() ||
	    !fill(stream, start, size, time))
		return;
	packet->events_discarded++;
	packet->timestamp_end = time;
	compiler_barrier();
	packet->content_size = bits_before(packet, start + size);
	stream_commit_nested(stream);
}

void pending_return(const struct record *record)
{
	struct packet *packet = record->stream->packet;

	/* In a packet that is gone it stays lost. */
	if (packet->packet_seq_num == record->number && record->start >= (char *) packet &&
	    bits_before(packet, record->end) <= packet->content_size)
		__atomic_fetch_sub((uint64_t *) (void *) &packet->events_discarded, 1,
				   __ATOMIC_RELAXED);
}

void pending_nest(struct stream *stream, const char *stack)
{
	/* A handler runs below the frame that it interrupts. One with a stack of its own may
	 * lie above, and so may a coroutine: then the interrupted record comes later. */
	if (stack >= stream->pending_stack) {
		const signals before = system_block_signals();

		if (pending_is_any(stream)) {
			stream->is_doubtful = true;
			give_up(stream);
		}
		system_restore_signals(before);
	}
	__atomic_fetch_add(&stream->nested, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&stream->behind, 1, __ATOMIC_RELAXED);
}

void pending_unnest(struct stream *stream, uint64_t number)
{
	if (stream->packet->packet_seq_num != number)
		return;
	__atomic_fetch_sub(&stream->nested, 1, __ATOMIC_RELAXED);
	__atomic_fetch_sub(&stream->behind, 1, __ATOMIC_RELAXED);
}

void stream_commit_nested(struct stream *stream)
{
	const signals before = system_block_signals();
	struct packet *packet = stream->packet;

	stream->is_waiting = stream->nested > 0;
	if (!stream->is_waiting) {
		packet->timestamp_end = clock_read();
		compiler_barrier();
		packet->content_size = bits_before(packet, stream->next);
		stream->behind = 0;
	}
	system_restore_signals(before);
}

void pending_commit(const struct record *record)
{
	struct stream *stream = record->stream;
	struct packet *packet = stream->packet;

	/* The packet may be gone. */
	if (packet->packet_seq_num != record->number || record->start < (char *) packet ||
	    record->end > stream->limit)
		return;
	__atomic_fetch_sub(&stream->nested, 1, __ATOMIC_RELAXED);
	if (stream->is_waiting || packet->content_size == bits_before(packet, record->start))
		stream_commit_nested(stream);
}

void pending_end(struct stream *stream)
{
	struct packet *packet = stream->packet;

	if (!pending_is_any(stream))
		return;
	stream->is_doubtful = true;
	give_up(stream);
	if (!pending_is_any(stream))
		return;
	/* The first, if it was not given up, and those behind it. */
	packet->events_discarded +=
		!stream->is_waiting + (unsigned int) (stream->behind > 0 ? stream->behind : 0);
	stream->next = (char *) packet + packet->content_size / 8;
}
