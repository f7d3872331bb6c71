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

/* Event record classes, the same in each recording. */
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
	/* Fillers in place of a record that was interrupted and never written. */
	EVENT_ABANDONED,
	EVENT_ABANDONED_BYTES,
};

/* The compact event header: five bits of class, the lower bits of the time above them. */
#define HEADER_CLASS_BITS 5
#define HEADER_TIME_BITS 27
#define HEADER_EXTENDED 31u
#define COMPACT_HEADER_SIZE 4u
#define EXTENDED_HEADER_SIZE 13u

#endif
