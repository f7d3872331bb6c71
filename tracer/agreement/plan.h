/*
 * Plans for the entries of functions. Made by tools/make_agreement.py from plan.py in this
 * folder: change it there, then say 'make agreement'.
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
	uint8_t padding[5];
	/* What must be there before. */
	uint8_t replaced[24];
};

_Static_assert(offsetof(struct plan_function, address) == 0, "plan_function.address");
_Static_assert(offsetof(struct plan_function, place) == 8, "plan_function.place");
_Static_assert(offsetof(struct plan_function, replaced_size) == 16, "plan_function.replaced_size");
_Static_assert(offsetof(struct plan_function, code_size) == 17, "plan_function.code_size");
_Static_assert(offsetof(struct plan_function, fixups) == 18, "plan_function.fixups");
_Static_assert(offsetof(struct plan_function, padding) == 19, "plan_function.padding");
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

#endif
