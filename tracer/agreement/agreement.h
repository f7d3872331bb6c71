/*
 * What the recorder and the tracer agree on. Made by tools/make_agreement.py from the modules
 * in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_H
#define VESTIGE_AGREEMENT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* That of the description; it goes with each recording. */
#define AGREEMENT "df2255232ffde00c"

/* --- Packets, see docs/formats/recording.md --- */

/* CTF 1.8.3, section 5.1. */
#define PACKET_MAGIC 0xC1FC1FC1u
/* Of the rings of threads. */
#define STREAM_CLASS 0u
#define STREAM_CLASS_OF_CPUS 1u
#define PROCNAME_SIZE 16u
/* Of `ip`, `addr` and `call_site`. */
#define PLACE_SIZE 6u
#define ID_SIZE 4u
#define CPU_ID_SIZE 2u
/* The compact event header: bits of class, then the lower bits of the time. Bits are counted
 * from the least significant one on little-endian machines, from the other end on big-endian
 * ones. */
#define HEADER_CLASS_BITS 8u
#define HEADER_TIME_BITS 24u
/* In place of the class, which follows in 32 bits, with all of the time. */
#define HEADER_EXTENDED 255u
#define COMPACT_HEADER_SIZE 4u
#define EXTENDED_HEADER_SIZE 13u

/* The packet header and the packet context. All sizes are in bits, as CTF has them. */
struct packet {
	uint32_t magic;
	uint8_t uuid[16];
	uint32_t stream_id;
	uint64_t stream_instance_id;
	uint64_t timestamp_begin;
	/* Up to date after each record; the collector fills what follows. */
	volatile uint64_t timestamp_end;
	volatile uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	volatile uint64_t events_discarded;
	uint32_t vpid;
	uint32_t vtid;
	char procname[16];
};

_Static_assert(offsetof(struct packet, magic) == 0, "packet.magic");
_Static_assert(offsetof(struct packet, uuid) == 4, "packet.uuid");
_Static_assert(offsetof(struct packet, stream_id) == 20, "packet.stream_id");
_Static_assert(offsetof(struct packet, stream_instance_id) == 24, "packet.stream_instance_id");
_Static_assert(offsetof(struct packet, timestamp_begin) == 32, "packet.timestamp_begin");
_Static_assert(offsetof(struct packet, timestamp_end) == 40, "packet.timestamp_end");
_Static_assert(offsetof(struct packet, content_size) == 48, "packet.content_size");
_Static_assert(offsetof(struct packet, packet_size) == 56, "packet.packet_size");
_Static_assert(offsetof(struct packet, packet_seq_num) == 64, "packet.packet_seq_num");
_Static_assert(offsetof(struct packet, events_discarded) == 72, "packet.events_discarded");
_Static_assert(offsetof(struct packet, vpid) == 80, "packet.vpid");
_Static_assert(offsetof(struct packet, vtid) == 84, "packet.vtid");
_Static_assert(offsetof(struct packet, procname) == 88, "packet.procname");
_Static_assert(sizeof(struct packet) == 104, "packet");

/* --- Event record classes, the same in each recording --- */

enum event_class {
	EVENT_FAST_ENTRY = 0,
	EVENT_FAST_EXIT = 1,
	EVENT_ENTRY = 2,
	EVENT_EXIT = 3,
	EVENT_DUMP_START = 4,
	EVENT_DUMP_PROCNAME = 5,
	EVENT_DUMP_BIN_INFO = 6,
	EVENT_DUMP_BUILD_ID = 7,
	EVENT_DUMP_DEBUG_LINK = 8,
	EVENT_DUMP_END = 9,
	EVENT_LIB_LOAD = 10,
	EVENT_LIB_BUILD_ID = 11,
	EVENT_LIB_DEBUG_LINK = 12,
	EVENT_LIB_UNLOAD = 13,
	EVENT_BADDR_INIT = 14,
	EVENT_BADDR_PUSH = 15,
	EVENT_BADDR_POP = 16,
	/* What vestige.instrument writes, from here on. This one tells what others mean. */
	EVENT_PYTHON_CODE = 17,
	EVENT_PYTHON_ENTRY = 18,
	EVENT_PYTHON_EXIT = 19,
	EVENT_PYTHON_COROUTINE_ENTRY = 20,
	EVENT_PYTHON_COROUTINE_EXIT = 21,
	EVENT_PYTHON_NOT_RECORDED = 22,
	/* The tracer again: by which name a function of a library is called. */
	EVENT_LIBRARY_FUNCTION = 23,
	/* How many there are, and the first of those of tracepoints. */
	EVENT_CLASSES,
};

/* A place in the program, in 48 bits. No store may reach over its end: what comes after it may
 * be a record of a signal handler. */
static inline char *encode_place(char *at, uint64_t place)
{
	const uint16_t high = (uint16_t) (place >> 32);
	const uint32_t low = (uint32_t) place;

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(at, &low, sizeof(low));
	memcpy(at + sizeof(low), &high, sizeof(high));
#else
	memcpy(at, &high, sizeof(high));
	memcpy(at + sizeof(high), &low, sizeof(low));
#endif
	return at + PLACE_SIZE;
}

/* The fields of lttng_ust_cyg_profile_fast:func_entry, vestige_python:func_entry,
 * vestige_python:func_exit. */
#define ADDR_FIELDS_SIZE 6u
static inline char *encode_addr(char *at, uint64_t addr)
{
	return encode_place(at, addr);
}

/* The fields of lttng_ust_cyg_profile:func_entry, lttng_ust_cyg_profile:func_exit. */
#define CALL_FIELDS_SIZE 12u
static inline char *encode_call(char *at, uint64_t addr, uint64_t call_site)
{
	at = encode_place(at, addr);
	return encode_place(at, call_site);
}

/* The fields of lttng_ust_statedump:procname. */
#define PROCNAME_FIELDS_SIZE 17u
static inline char *encode_procname(char *at, const void *procname)
{
	memcpy(at, procname, 17u);
	return at + 17u;
}

/* The fields of lttng_ust_statedump:bin_info. */
#define BIN_INFO_FIELDS_SIZE(path_size) (19u + (path_size))
static inline char *encode_bin_info(char *at, uint64_t baddr, uint64_t memsz,
		const char *path, size_t path_size, uint8_t is_pic, uint8_t has_build_id,
		uint8_t has_debug_link)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, &memsz, sizeof(memsz));
	at += sizeof(memsz);
	memcpy(at, path, path_size);
	at += path_size;
	memcpy(at, &is_pic, sizeof(is_pic));
	at += sizeof(is_pic);
	memcpy(at, &has_build_id, sizeof(has_build_id));
	at += sizeof(has_build_id);
	memcpy(at, &has_debug_link, sizeof(has_debug_link));
	return at + sizeof(has_debug_link);
}

/* The fields of lttng_ust_statedump:build_id, lttng_ust_lib:build_id. */
#define BUILD_ID_FIELDS_SIZE(build_id_size) (16u + (build_id_size))
static inline char *encode_build_id(char *at, uint64_t baddr,
		const void *build_id, uint64_t build_id_size)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, &build_id_size, sizeof(build_id_size));
	at += sizeof(build_id_size);
	memcpy(at, build_id, build_id_size);
	return at + build_id_size;
}

/* The fields of lttng_ust_statedump:debug_link, lttng_ust_lib:debug_link. */
#define DEBUG_LINK_FIELDS_SIZE(filename_size) (12u + (filename_size))
static inline char *encode_debug_link(char *at, uint64_t baddr, uint32_t crc,
		const char *filename, size_t filename_size)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, &crc, sizeof(crc));
	at += sizeof(crc);
	memcpy(at, filename, filename_size);
	return at + filename_size;
}

/* The fields of lttng_ust_lib:load. */
#define LOAD_FIELDS_SIZE(path_size) (18u + (path_size))
static inline char *encode_load(char *at, uint64_t baddr, uint64_t memsz,
		const char *path, size_t path_size, uint8_t has_build_id,
		uint8_t has_debug_link)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, &memsz, sizeof(memsz));
	at += sizeof(memsz);
	memcpy(at, path, path_size);
	at += path_size;
	memcpy(at, &has_build_id, sizeof(has_build_id));
	at += sizeof(has_build_id);
	memcpy(at, &has_debug_link, sizeof(has_debug_link));
	return at + sizeof(has_debug_link);
}

/* The fields of lttng_ust_lib:unload, ust_baddr:pop. */
#define BASE_FIELDS_SIZE 8u
static inline char *encode_base(char *at, uint64_t baddr)
{
	memcpy(at, &baddr, sizeof(baddr));
	return at + sizeof(baddr);
}

/* The fields of ust_baddr:init, ust_baddr:push. */
#define FILE_FIELDS_SIZE(sopath_size) (24u + (sopath_size))
static inline char *encode_file(char *at, uint64_t baddr, const char *sopath,
		size_t sopath_size, int64_t size, int64_t mtime)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, sopath, sopath_size);
	at += sopath_size;
	memcpy(at, &size, sizeof(size));
	at += sizeof(size);
	memcpy(at, &mtime, sizeof(mtime));
	return at + sizeof(mtime);
}

/* The fields of vestige_python:code. */
#define CODE_FIELDS_SIZE(path_size, func_size) (20u + (path_size) + (func_size))
static inline char *encode_code(char *at, uint64_t baddr, uint64_t memsz,
		const char *path, size_t path_size, const char *func, size_t func_size,
		uint32_t line)
{
	memcpy(at, &baddr, sizeof(baddr));
	at += sizeof(baddr);
	memcpy(at, &memsz, sizeof(memsz));
	at += sizeof(memsz);
	memcpy(at, path, path_size);
	at += path_size;
	memcpy(at, func, func_size);
	at += func_size;
	memcpy(at, &line, sizeof(line));
	return at + sizeof(line);
}

/* The fields of vestige_python:coroutine_entry. */
#define STEP_ENTRY_FIELDS_SIZE 15u
static inline char *encode_step_entry(char *at, uint64_t addr, uint64_t id,
		uint8_t is_resumed)
{
	at = encode_place(at, addr);
	memcpy(at, &id, sizeof(id));
	at += sizeof(id);
	memcpy(at, &is_resumed, sizeof(is_resumed));
	return at + sizeof(is_resumed);
}

/* The fields of vestige_python:coroutine_exit. */
#define STEP_EXIT_FIELDS_SIZE 15u
static inline char *encode_step_exit(char *at, uint64_t addr, uint64_t id,
		uint8_t is_suspended)
{
	at = encode_place(at, addr);
	memcpy(at, &id, sizeof(id));
	at += sizeof(id);
	memcpy(at, &is_suspended, sizeof(is_suspended));
	return at + sizeof(is_suspended);
}

/* The fields of vestige_python:not_recorded. */
#define NOT_RECORDED_FIELDS_SIZE(what_size, reason_size) ((what_size) + (reason_size))
static inline char *encode_not_recorded(char *at, const char *what,
		size_t what_size, const char *reason, size_t reason_size)
{
	memcpy(at, what, what_size);
	at += what_size;
	memcpy(at, reason, reason_size);
	return at + reason_size;
}

/* The fields of vestige_library:function. */
#define LIBRARY_FUNCTION_FIELDS_SIZE(name_size) (6u + (name_size))
static inline char *encode_library_function(char *at, uint64_t addr,
		const char *name, size_t name_size)
{
	at = encode_place(at, addr);
	memcpy(at, name, name_size);
	return at + name_size;
}

/* --- Contexts, and the counters among them --- */

/* Of one recording. */
#define MOST_COUNTERS 8u
#define COUNTER_PREFIX "perf:thread:"
/* In each record of a recording. */
#define MOST_APPLICATION_CONTEXTS 16u
/* Different ones in a filter. */
#define MOST_APPLICATION_OPERANDS 6u
/* With its prefix. */
#define LONGEST_APPLICATION_NAME 255u
#define APPLICATION_PREFIX "$app."

/* Bits of those that are asked for; counters have the bits above. */
enum context {
	CONTEXT_IP = 1 << 0,
	CONTEXT_VPID = 1 << 1,
	CONTEXT_VTID = 1 << 2,
	CONTEXT_PROCNAME = 1 << 3,
	CONTEXT_CPU_ID = 1 << 4,
	CONTEXT_PTHREAD_ID = 1 << 5,
	CONTEXT_CGROUP_NS = 1 << 6,
	CONTEXT_IPC_NS = 1 << 7,
	CONTEXT_MNT_NS = 1 << 8,
	CONTEXT_NET_NS = 1 << 9,
	CONTEXT_PID_NS = 1 << 10,
	CONTEXT_TIME_NS = 1 << 11,
	CONTEXT_USER_NS = 1 << 12,
	CONTEXT_UTS_NS = 1 << 13,
	CONTEXT_VUID = 1 << 14,
	CONTEXT_VGID = 1 << 15,
	CONTEXT_VEUID = 1 << 16,
	CONTEXT_VEGID = 1 << 17,
	CONTEXT_VSUID = 1 << 18,
	CONTEXT_VSGID = 1 << 19,
};

#define CONTEXTS 20u
/* Name and size of each, in the order in which they are written. */
#define CONTEXT_TABLE \
	{"ip", 6u}, \
	{"vpid", 4u}, \
	{"vtid", 4u}, \
	{"procname", 17u}, \
	{"cpu_id", 2u}, \
	{"pthread_id", 8u}, \
	{"cgroup_ns", 8u}, \
	{"ipc_ns", 8u}, \
	{"mnt_ns", 8u}, \
	{"net_ns", 8u}, \
	{"pid_ns", 8u}, \
	{"time_ns", 8u}, \
	{"user_ns", 8u}, \
	{"uts_ns", 8u}, \
	{"vuid", 4u}, \
	{"vgid", 4u}, \
	{"veuid", 4u}, \
	{"vegid", 4u}, \
	{"vsuid", 4u}, \
	{"vsgid", 4u},

/* What a context of an application may be. */
enum application_type {
	APPLICATION_NONE,
	APPLICATION_INT8,
	APPLICATION_INT16,
	APPLICATION_INT32,
	APPLICATION_INT64,
	APPLICATION_UINT8,
	APPLICATION_UINT16,
	APPLICATION_UINT32,
	APPLICATION_UINT64,
	APPLICATION_FLOAT,
	APPLICATION_DOUBLE,
	APPLICATION_STRING,
	APPLICATION_TYPES,
};

/* Bytes of each; a string has those that it has. */
#define APPLICATION_SIZES 0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 0

/* Name of each counter, and where the tracer has it from. */
#define COUNTER_TABLE \
	{"page-fault", KERNEL(PAGE_FAULTS)}, \
	{"faults", KERNEL(PAGE_FAULTS)}, \
	{"major-faults", KERNEL(MAJOR_FAULTS)}, \
	{"minor-faults", KERNEL(MINOR_FAULTS)}, \
	{"context-switches", KERNEL(CONTEXT_SWITCHES)}, \
	{"cs", KERNEL(CONTEXT_SWITCHES)}, \
	{"cpu-clock", KERNEL(CPU_TIME)}, \
	{"task-clock", KERNEL(CPU_TIME)}, \
	{"cpu-cycles", HARDWARE(CPU_CYCLES)}, \
	{"cycles", HARDWARE(CPU_CYCLES)}, \
	{"instructions", HARDWARE(INSTRUCTIONS)}, \
	{"cache-references", HARDWARE(CACHE_REFERENCES)}, \
	{"cache-misses", HARDWARE(CACHE_MISSES)}, \
	{"branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS)}, \
	{"branches", HARDWARE(BRANCH_INSTRUCTIONS)}, \
	{"branch-misses", HARDWARE(BRANCH_MISSES)}, \
	{"bus-cycles", HARDWARE(BUS_CYCLES)}, \
	{"stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)}, \
	{"idle-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND)}, \
	{"stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)}, \
	{"idle-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND)}, \
	{"L1-dcache-loads", CACHE(L1D, READ, ACCESS)}, \
	{"L1-dcache-load-misses", CACHE(L1D, READ, MISS)}, \
	{"L1-dcache-stores", CACHE(L1D, WRITE, ACCESS)}, \
	{"L1-dcache-store-misses", CACHE(L1D, WRITE, MISS)}, \
	{"L1-dcache-prefetches", CACHE(L1D, PREFETCH, ACCESS)}, \
	{"L1-dcache-prefetch-misses", CACHE(L1D, PREFETCH, MISS)}, \
	{"L1-icache-loads", CACHE(L1I, READ, ACCESS)}, \
	{"L1-icache-load-misses", CACHE(L1I, READ, MISS)}, \
	{"L1-icache-stores", CACHE(L1I, WRITE, ACCESS)}, \
	{"L1-icache-store-misses", CACHE(L1I, WRITE, MISS)}, \
	{"L1-icache-prefetches", CACHE(L1I, PREFETCH, ACCESS)}, \
	{"L1-icache-prefetch-misses", CACHE(L1I, PREFETCH, MISS)}, \
	{"LLC-loads", CACHE(LL, READ, ACCESS)}, \
	{"LLC-load-misses", CACHE(LL, READ, MISS)}, \
	{"LLC-stores", CACHE(LL, WRITE, ACCESS)}, \
	{"LLC-store-misses", CACHE(LL, WRITE, MISS)}, \
	{"LLC-prefetches", CACHE(LL, PREFETCH, ACCESS)}, \
	{"LLC-prefetch-misses", CACHE(LL, PREFETCH, MISS)}, \
	{"dTLB-loads", CACHE(DTLB, READ, ACCESS)}, \
	{"dTLB-load-misses", CACHE(DTLB, READ, MISS)}, \
	{"dTLB-stores", CACHE(DTLB, WRITE, ACCESS)}, \
	{"dTLB-store-misses", CACHE(DTLB, WRITE, MISS)}, \
	{"dTLB-prefetches", CACHE(DTLB, PREFETCH, ACCESS)}, \
	{"dTLB-prefetch-misses", CACHE(DTLB, PREFETCH, MISS)}, \
	{"iTLB-loads", CACHE(ITLB, READ, ACCESS)}, \
	{"iTLB-load-misses", CACHE(ITLB, READ, MISS)}, \
	{"branch-loads", CACHE(BPU, READ, ACCESS)}, \
	{"branch-load-misses", CACHE(BPU, READ, MISS)},

/* --- Filters and rules --- */

/* Values on the stack. */
#define EXPRESSION_DEPTH 24u
/* Of one filter. */
#define MOST_INSTRUCTIONS 2048u
#define RULES_MAGIC "VESTRUL1"
/* Bytes of the file of rules. */
#define LARGEST_RULES 4194304u
#define MOST_RULES 4096u
/* Log levels of events that have none of their own, see lttng-ust(3). */
#define LEVEL_FUNCTION 12u
#define LEVEL_LINE 13u
/* Patterns of functions, of both lists. */
#define MOST_PATTERNS 256u
/* Patterns of library calls. */
#define MOST_LIBRARY_PATTERNS 64u
/* Bytes of all of them, with a zero. */
#define LIBRARY_PATTERNS_SIZE 4096u
/* Bytes of all of them, each with a zero. */
#define PATTERN_TEXT_SIZE 16384u

/* What an instruction does. */
enum operation {
	/* The end: the top is the answer. */
	OP_RETURN = 0,
	/* Push a constant integer. */
	OP_INTEGER = 1,
	/* Push a constant real number. */
	OP_REAL = 2,
	/* Push a constant text. */
	OP_TEXT = 3,
	/* Push a field, by name. */
	OP_FIELD = 4,
	/* Push an element of a field. */
	OP_ELEMENT = 5,
	/* Push a context, by name. */
	OP_CONTEXT = 6,
	/* Negate the top. */
	OP_MINUS = 7,
	/* Whether the top is zero. */
	OP_NOT = 8,
	/* Turn all bits of the top. */
	OP_COMPLEMENT = 9,
	/* Shift bits of 64-bit numbers to the left. */
	OP_SHIFT_LEFT = 10,
	/* Shift bits to the right; zeros follow. */
	OP_SHIFT_RIGHT = 11,
	/* Bits that both have. */
	OP_AND = 12,
	/* Bits that one of them has. */
	OP_XOR = 13,
	/* Bits that any has. */
	OP_OR = 14,
	/* Compare the two at the top. */
	OP_LESS = 15,
	/* As above. */
	OP_LESS_EQUAL = 16,
	/* As above. */
	OP_GREATER = 17,
	/* As above. */
	OP_GREATER_EQUAL = 18,
	/* As above. */
	OP_EQUAL = 19,
	/* As above. */
	OP_NOT_EQUAL = 20,
	/* Compare the top with a pattern, in which a zero stands for any text. */
	OP_MATCHES = 21,
	/* As above; other texts than those of the pattern. */
	OP_MATCHES_NOT = 22,
	/* Make the top an integer. */
	OP_TO_INTEGER = 23,
	/* Go on at an instruction if the top is zero, and leave 0; otherwise drop it. */
	OP_SKIP_IF_FALSE = 24,
	/* Go on at an instruction if the top is not zero, and leave 1; otherwise drop it. */
	OP_SKIP_IF_TRUE = 25,
	OPERATIONS,
};

/* An instruction of a filter. */
struct instruction {
	uint16_t operation;
	uint16_t reserved;
	/* Of an element, or of an instruction. */
	uint32_t index;
	/* A constant; a text lies in the text of the rule. */
	union {
		int64_t integer;
		double real;
		struct {
			uint32_t offset;
			uint32_t length;
		} text;
	} value;
};

_Static_assert(offsetof(struct instruction, operation) == 0, "instruction.operation");
_Static_assert(offsetof(struct instruction, reserved) == 2, "instruction.reserved");
_Static_assert(offsetof(struct instruction, index) == 4, "instruction.index");
_Static_assert(offsetof(struct instruction, value) == 8, "instruction.value");
_Static_assert(sizeof(struct instruction) == 16, "instruction");

/* Before all rules. */
struct rules_head {
	char magic[8];
	/* Bytes of the file. */
	uint32_t size;
	uint32_t rule_count;
};

_Static_assert(offsetof(struct rules_head, magic) == 0, "rules_head.magic");
_Static_assert(offsetof(struct rules_head, size) == 8, "rules_head.size");
_Static_assert(offsetof(struct rules_head, rule_count) == 12, "rules_head.rule_count");
_Static_assert(sizeof(struct rules_head) == 16, "rules_head");

/* Before each rule. Its patterns follow, each ended by a zero: that of the names that are
 * chosen, then those of names that are not; then instructions, and their text. All three
 * parts are a multiple of eight bytes. */
struct rule_head {
	/* Bytes of the rule with this. */
	uint32_t size;
	int32_t first_level;
	int32_t last_level;
	uint32_t pattern_count;
	uint32_t patterns_size;
	uint32_t instruction_count;
	uint32_t text_size;
	uint32_t reserved;
};

_Static_assert(offsetof(struct rule_head, size) == 0, "rule_head.size");
_Static_assert(offsetof(struct rule_head, first_level) == 4, "rule_head.first_level");
_Static_assert(offsetof(struct rule_head, last_level) == 8, "rule_head.last_level");
_Static_assert(offsetof(struct rule_head, pattern_count) == 12, "rule_head.pattern_count");
_Static_assert(offsetof(struct rule_head, patterns_size) == 16, "rule_head.patterns_size");
_Static_assert(offsetof(struct rule_head, instruction_count) == 20, "rule_head.instruction_count");
_Static_assert(offsetof(struct rule_head, text_size) == 24, "rule_head.text_size");
_Static_assert(offsetof(struct rule_head, reserved) == 28, "rule_head.reserved");
_Static_assert(sizeof(struct rule_head) == 32, "rule_head");

/* --- Files --- */

#define METADATA_FILE "metadata"
/* Where there is no shared memory; hidden, so that readers leave it alone. */
#define ARENA_FILE ".arena-data"
#define ARENA_IN_DIRECTORY "."
/* Names the arenas of a recording. */
#define ARENAS_FILE ".arena"
/* Lines of tracers that do not agree with the recorder: see settings.py. */
#define REFUSALS_FILE ".refused"
/* Bytes from which on none is added. */
#define LARGEST_REFUSALS 65536u
/* Has a plan for each object, named after its build ID: see plan.py. */
#define PLANS_DIRECTORY ".plans"
#define OPEN_SUFFIX ".open"
#define RING_PREFIX "ring-"
/* The data stream of what no other could tell. */
#define LOST_STREAM "lost"

/* --- Settings --- */

/* In the place of a fingerprint: a provider or an event is not recorded. */
#define SKIPPED_MARK "lttng-ust"
/* Its description has a size, a name or an address that no header makes. */
#define SKIPPED_DAMAGED "damaged"
/* Its provider is of an unknown version. */
#define SKIPPED_MAJOR "major"
/* Its fields are of an unknown kind. */
#define SKIPPED_FIELDS "fields"
/* No reader takes its fields: two have one name, or labels begin at their end. */
#define SKIPPED_READERS "readers"
/* Its fields are aligned, as on other machines. */
#define SKIPPED_ALIGNMENT "alignment"
/* Its tracepoint has other arguments than its probe takes. */
#define SKIPPED_SIGNATURE "signature"
/* There are too many classes. */
#define SKIPPED_CLASS "class"
/* A sequence of it was cut: the type of its length cannot tell of all elements. */
#define SKIPPED_LENGTH "length"
/* There is no memory for it. */
#define SKIPPED_MEMORY "memory"
/* In the place of a fingerprint: no entry of an object was rewritten. */
#define UNPATCHED_MARK "patch"
/* Its plan is damaged. */
#define UNPATCHED_PLAN "plan"
/* It is not what was planned. */
#define UNPATCHED_BYTES "bytes"
/* There is no memory near it. */
#define UNPATCHED_MEMORY "memory"
/* Its code may not be written to. */
#define UNPATCHED_POLICY "policy"
/* Other threads run already. */
#define UNPATCHED_THREADS "threads"
/* The processor keeps return addresses, which cannot be replaced. */
#define UNPATCHED_SHADOW "shadow"
/* The program copies its stacks, and return addresses with them. */
#define UNPATCHED_COPIES "copies"
/* Its plan did not come in time. */
#define UNPATCHED_LATE "late"

#define SETTINGS_VARIABLE "VESTIGE_TRACER"
/* Makes the tracer inert, and keeps it out of programs that clear their environment. */
#define OFF_VARIABLE "VESTIGE_TRACER_OFF"
/* Before the fingerprint. */
#define SETTINGS_HEAD "2 agreement="
/* The last word: it may hold spaces. */
#define SETTINGS_TAIL "directory="
/* Packets are whole pages of the arena. */
#define SMALLEST_PACKET 4096u
#define LARGEST_PACKET 1073741824u

#define FUNCTION_TRACING_WORDS "off", "fast", "verbose"
enum function_tracing_word { FUNCTION_TRACING_OFF, FUNCTION_TRACING_FAST, FUNCTION_TRACING_VERBOSE };

#define CLOCK_KIND_WORDS "monotonic", "counter"
enum clock_kind_word { CLOCK_KIND_MONOTONIC, CLOCK_KIND_COUNTER };

/* Each word is read by parse_NAME() of settings_words.c. */
#define FOR_EACH_SETTING(of) \
	of(arena, "arena") \
	of(arena_id, "arena-id") \
	of(socket, "socket") \
	of(token, "token") \
	of(inherited, "inherited") \
	of(clock, "clock") \
	of(contexts, "contexts") \
	of(entries, "entries") \
	of(exits, "exits") \
	of(events, "events") \
	of(follow_fork, "follow-fork") \
	of(recorder, "recorder") \
	of(include, "include") \
	of(exclude, "exclude") \
	of(plans, "plans") \
	of(library_calls, "library-calls") \
	of(library_entries, "library-entries") \
	of(library_exits, "library-exits") \
	of(plan_wait, "plan-wait") \
	of(python, "python")

#endif
