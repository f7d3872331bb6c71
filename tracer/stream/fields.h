/* Writing contexts and fields of a record; docs/formats/recording.md describes them. Each returns
 * where the next goes. */
#ifndef VESTIGE_STREAM_FIELDS_H
#define VESTIGE_STREAM_FIELDS_H

#include <string.h>

#include "../agreement/agreement.h"
#include "../base/cpu.h"
#include "../base/settings.h"
#include "context.h"
#include "state.h"

static inline char *put_bytes(char *at, const void *bytes, size_t size)
{
	memcpy(at, bytes, size);
	return at + size;
}

static inline char *put_u32(char *at, uint32_t value)
{
	return put_bytes(at, &value, sizeof(value));
}

static inline char *put_u16(char *at, uint16_t value)
{
	return put_bytes(at, &value, sizeof(value));
}

/* Those of WHOSE_CONTEXTS. */
static inline char *put_whose_contexts(char *at, const struct stream *stream)
{
	_Static_assert(offsetof(struct stream, vtid) == offsetof(struct stream, vpid) + ID_SIZE,
		       "both are read at once");
	return put_bytes(at, &stream->vpid, WHOSE_CONTEXTS_SIZE);
}

static inline char *put_contexts(char *at, struct context_choice choice,
				 const struct stream *stream, const void *ip)
{
	const uint32_t contexts = choice.chosen;

	if (contexts & CONTEXT_IP)
		at = encode_place(at, (uintptr_t) ip);
	if (contexts & CONTEXT_VPID)
		at = put_u32(at, stream->vpid);
	if (contexts & CONTEXT_VTID)
		at = put_u32(at, stream->vtid);
	if (contexts & CONTEXT_PROCNAME)
		at = put_bytes(at, stream->procname, sizeof(stream->procname));
	if (contexts & CONTEXT_CPU_ID)
		at = put_u16(at, cpu_read());
	if (UNLIKELY(contexts & MORE_CONTEXTS))
		at = contexts_write_more(at, choice);
	return at;
}

#endif
