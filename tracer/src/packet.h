/* The layout of what the tracer writes; docs/formats/recording.md describes it. */
#ifndef VESTIGE_PACKET_H
#define VESTIGE_PACKET_H

#include <stdint.h>

#define PACKET_MAGIC 0xC1FC1FC1u
#define STREAM_CLASS 0u
#define PROCNAME_SIZE 16

/* The packet header and the packet context. All sizes are in bits, as CTF has them. */
struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	/* Up to date after each record, and so is content_size: a packet is valid at any time. */
	volatile uint64_t timestamp_end;
	volatile uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	volatile uint64_t events_discarded;
	uint32_t vpid;
	uint32_t vtid;
	char procname[PROCNAME_SIZE];
} __attribute__((packed, aligned(8)));

/* Event record classes, the same in each recording; those of tracepoints follow them. */
enum event_class {
	EVENT_FAST_ENTRY,
	EVENT_FAST_EXIT,
	EVENT_ENTRY,
	EVENT_EXIT,
	EVENT_DUMP_START,
	EVENT_DUMP_PROCNAME,
	EVENT_DUMP_BIN_INFO,
	EVENT_DUMP_BUILD_ID,
	EVENT_DUMP_DEBUG_LINK,
	EVENT_DUMP_END,
	EVENT_LIB_LOAD,
	EVENT_LIB_BUILD_ID,
	EVENT_LIB_DEBUG_LINK,
	EVENT_LIB_UNLOAD,
	/* Fillers in place of a record that was interrupted and never written: one without
	 * fields, and one with a place. */
	EVENT_ABANDONED,
	EVENT_ABANDONED_PLACE,
	EVENT_BADDR_INIT,
	EVENT_BADDR_PUSH,
	EVENT_BADDR_POP,
	/* One with two places. */
	EVENT_ABANDONED_PLACES,
	/* What vestige.instrument writes, by the numbers in tracepoint-abi.h. The first tells
	 * what others mean. */
	EVENT_PYTHON_CODE,
	EVENT_PYTHON_ENTRY,
	EVENT_PYTHON_EXIT,
	EVENT_PYTHON_COROUTINE_ENTRY,
	EVENT_PYTHON_COROUTINE_EXIT,
	EVENT_PYTHON_NOT_RECORDED,
	/* How many there are, and the first of those of tracepoints: Babeltrace's debug-info
	 * filter takes no gap. */
	EVENT_CLASSES,
};

/* Code addresses (ip, addr, call_site) have no more bits than user space has; 32 bits of
 * process and thread IDs are what Babeltrace's debug-info filter asks for. */
#define PLACE_SIZE 6u
#define ID_SIZE 4u
#define CPU_ID_SIZE 2u

/* The compact event header: eight bits of class, then the lower bits of the time. Bits are
 * counted from the least significant one on little-endian machines, from the other end on
 * big-endian ones. */
#define HEADER_CLASS_BITS 8
#define HEADER_TIME_BITS 24
/* In place of the class, which follows in 32 bits, with all of the time. */
#define HEADER_EXTENDED 255u
#define COMPACT_HEADER_SIZE 4u
#define EXTENDED_HEADER_SIZE 13u
/* The compact header with `ip` and `vpid`. */
#define USUAL_START_SIZE (COMPACT_HEADER_SIZE + PLACE_SIZE + ID_SIZE)

static inline uint32_t compact_header(uint32_t class, uint64_t time)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (uint32_t) (time << HEADER_CLASS_BITS) | class;
#else
	return class << HEADER_TIME_BITS |
		((uint32_t) time & ((1u << HEADER_TIME_BITS) - 1));
#endif
}

#endif
