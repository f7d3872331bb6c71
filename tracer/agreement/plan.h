/*
 * Plans for the entries of functions, and probes. Made by tools/make_agreement.py from plan.py and
 * probes.py in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_PLAN_H
#define VESTIGE_AGREEMENT_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define PLAN_MAGIC "VESTPLN1"
/* Of the jump at an entry. */
#define PLAN_JUMP_BYTES 5u
/* Bytes of moved code. */
#define PLAN_MOST_CODE 240u
#define PLAN_MOST_FUNCTIONS 1048576u
/* In a request: it is the program itself. */
#define PLAN_OF_PROGRAM 1u
/* No request: a word that says why an object is left alone, a space, its name. */
#define PLAN_REFUSED 2u
/* The answer where there is nothing to do. */
#define PLAN_NOTHING "-"

/* How a plan begins. */
struct plan_header {
	char magic[8];
	/* Bytes of the file. */
	uint64_t size;
	/* How many there are. */
	uint32_t functions;
	/* Bytes. */
	uint32_t build_id_size;
	/* Of the object. */
	uint8_t build_id[64];
};

_Static_assert(offsetof(struct plan_header, magic) == 0, "plan_header.magic");
_Static_assert(offsetof(struct plan_header, size) == 8, "plan_header.size");
_Static_assert(offsetof(struct plan_header, functions) == 16, "plan_header.functions");
_Static_assert(offsetof(struct plan_header, build_id_size) == 20, "plan_header.build_id_size");
_Static_assert(offsetof(struct plan_header, build_id) == 24, "plan_header.build_id");
_Static_assert(sizeof(struct plan_header) == 88, "plan_header");

/* A function; its code and its fixups come after it. */
struct plan_function {
	/* Where it begins, in the object. */
	uint64_t address;
	/* Where the jump goes. */
	uint64_t place;
	/* Bytes that the jump takes the place of. */
	uint8_t replaced_size;
	/* Bytes of the moved code. */
	uint8_t code_size;
	/* How many come after the code. */
	uint8_t fixups;
	/* See probes.py. */
	uint8_t flags;
	uint8_t padding[4];
	/* What must be there before. */
	uint8_t replaced[24];
};

_Static_assert(offsetof(struct plan_function, address) == 0, "plan_function.address");
_Static_assert(offsetof(struct plan_function, place) == 8, "plan_function.place");
_Static_assert(offsetof(struct plan_function, replaced_size) == 16, "plan_function.replaced_size");
_Static_assert(offsetof(struct plan_function, code_size) == 17, "plan_function.code_size");
_Static_assert(offsetof(struct plan_function, fixups) == 18, "plan_function.fixups");
_Static_assert(offsetof(struct plan_function, flags) == 19, "plan_function.flags");
_Static_assert(offsetof(struct plan_function, padding) == 20, "plan_function.padding");
_Static_assert(offsetof(struct plan_function, replaced) == 24, "plan_function.replaced");
_Static_assert(sizeof(struct plan_function) == 48, "plan_function");

/* A number that depends on where the code lies. */
struct plan_fixup {
	/* Where in the moved code a distance of 32 bits is. */
	uint32_t at;
	uint32_t padding;
	/* To where in the object the distance leads from the byte after it. */
	uint64_t target;
};

_Static_assert(offsetof(struct plan_fixup, at) == 0, "plan_fixup.at");
_Static_assert(offsetof(struct plan_fixup, padding) == 4, "plan_fixup.padding");
_Static_assert(offsetof(struct plan_fixup, target) == 8, "plan_fixup.target");
_Static_assert(sizeof(struct plan_fixup) == 16, "plan_fixup");

/* How a program asks for a plan. */
struct plan_request {
	/* That of the socket, with all bits the other way. */
	uint8_t token[16];
	uint32_t flags;
	/* Bytes. */
	uint32_t build_id_size;
	/* Of the object. */
	uint8_t build_id[64];
	/* With a zero at the end. */
	char path[4008];
};

_Static_assert(offsetof(struct plan_request, token) == 0, "plan_request.token");
_Static_assert(offsetof(struct plan_request, flags) == 16, "plan_request.flags");
_Static_assert(offsetof(struct plan_request, build_id_size) == 20, "plan_request.build_id_size");
_Static_assert(offsetof(struct plan_request, build_id) == 24, "plan_request.build_id");
_Static_assert(offsetof(struct plan_request, path) == 88, "plan_request.path");
_Static_assert(sizeof(struct plan_request) == 4096, "plan_request");

/* --- Probes --- */

/* In the directory of plans. */
#define PROBES_FILE "probes"
#define PROBES_MAGIC "VESTPRB1"
/* Of their events. */
#define PROBE_PROVIDER "vestige_probe"
/* Flag of a planned function: it is that of a probe. */
#define PLAN_PROBED 1u
#define MOST_PROBES 256u
/* Of one probe, without the result. */
#define MOST_PROBE_VALUES 16u
/* Bytes of a string that are read at most. */
#define LONGEST_PROBE_TEXT 255u
/* Flag: there is an event at the entry. */
#define PROBE_HAS_ENTRY 1u
/* Flag: there is one at the exit. */
#define PROBE_HAS_RESULT 2u
/* Flag: calls of the function are recorded, too. */
#define PROBE_HAS_CALLS 4u

/* Where a value is. */
enum probe_place {
	PROBE_IN_REGISTER = 0,
	PROBE_IN_VECTOR = 1,
	PROBE_IN_STACK = 2,
	PROBE_IN_NOTHING = 3,
	PROBE_IN_RESULT = 4,
};

/* What it is. */
enum probe_type {
	PROBE_IS_SIGNED = 0,
	PROBE_IS_UNSIGNED = 1,
	PROBE_IS_POINTER = 2,
	PROBE_IS_FLOAT = 3,
	PROBE_IS_TEXT = 4,
};

/* How the file begins. */
struct probes_header {
	char magic[8];
	/* Bytes of the file. */
	uint64_t size;
	/* How many there are. */
	uint32_t probes;
	uint32_t padding;
};

_Static_assert(offsetof(struct probes_header, magic) == 0, "probes_header.magic");
_Static_assert(offsetof(struct probes_header, size) == 8, "probes_header.size");
_Static_assert(offsetof(struct probes_header, probes) == 16, "probes_header.probes");
_Static_assert(offsetof(struct probes_header, padding) == 20, "probes_header.padding");
_Static_assert(sizeof(struct probes_header) == 24, "probes_header");

/* A probe. */
struct probe_head {
	/* Where the function begins, in the object. */
	uint64_t address;
	/* Bytes. */
	uint32_t build_id_size;
	/* How many follow, with the result. */
	uint32_t values;
	uint32_t flags;
	uint32_t padding;
	/* Of the object. */
	uint8_t build_id[64];
	/* Of its event, ended by a zero. */
	char name[208];
};

_Static_assert(offsetof(struct probe_head, address) == 0, "probe_head.address");
_Static_assert(offsetof(struct probe_head, build_id_size) == 8, "probe_head.build_id_size");
_Static_assert(offsetof(struct probe_head, values) == 12, "probe_head.values");
_Static_assert(offsetof(struct probe_head, flags) == 16, "probe_head.flags");
_Static_assert(offsetof(struct probe_head, padding) == 20, "probe_head.padding");
_Static_assert(offsetof(struct probe_head, build_id) == 24, "probe_head.build_id");
_Static_assert(offsetof(struct probe_head, name) == 88, "probe_head.name");
_Static_assert(sizeof(struct probe_head) == 296, "probe_head");

/* A value of it. */
struct probe_value {
	uint8_t place;
	uint8_t type;
	/* Bytes. */
	uint8_t size;
	/* Of the register, as DWARF counts. */
	uint8_t number;
	uint32_t padding;
	/* On the stack, from above the return address; or what it always is. */
	int64_t offset;
	/* Of its field, ended by a zero. */
	char name[64];
};

_Static_assert(offsetof(struct probe_value, place) == 0, "probe_value.place");
_Static_assert(offsetof(struct probe_value, type) == 1, "probe_value.type");
_Static_assert(offsetof(struct probe_value, size) == 2, "probe_value.size");
_Static_assert(offsetof(struct probe_value, number) == 3, "probe_value.number");
_Static_assert(offsetof(struct probe_value, padding) == 4, "probe_value.padding");
_Static_assert(offsetof(struct probe_value, offset) == 8, "probe_value.offset");
_Static_assert(offsetof(struct probe_value, name) == 16, "probe_value.name");
_Static_assert(sizeof(struct probe_value) == 80, "probe_value");

#endif
