/*
 * What programs and a session daemon say to each other. Made by tools/make_agreement.py from
 * registration.py in this folder: change it there, then say 'make agreement'.
 */
#ifndef VESTIGE_AGREEMENT_REGISTRATION_H
#define VESTIGE_AGREEMENT_REGISTRATION_H

#include <stddef.h>
#include <stdint.h>

/* Another one is refused on both sides. */
#define REGISTRATION_VERSION 2u
/* Names another run directory. */
#define RUN_VARIABLE "VESTIGE_RUNDIR"
/* 0: do not register. */
#define REGISTER_VARIABLE "VESTIGE_REGISTER"
/* Milliseconds for which a program waits before it begins; -1 is for ever. */
#define REGISTER_TIMEOUT_VARIABLE "LTTNG_UST_REGISTER_TIMEOUT"
/* Set: threads wait for room where a channel says so. */
#define BLOCKING_VARIABLE "LTTNG_UST_ALLOW_BLOCKING"
/* As many, by default. */
#define REGISTER_TIMEOUT 3000u
/* The run directory of root. */
#define SYSTEM_RUN_FOLDER "/var/run/lttng"
/* That of a user, in the home directory. */
#define USER_RUN_FOLDER ".lttng"
/* In the run directory. */
#define REGISTRATION_SOCKET "vestige-sock-1"
/* As above: its first word grows when a daemon begins. */
#define REGISTRATION_PAGE "vestige-wait-1"
/* As above: has the path of the tracer, for programs that have none. */
#define REGISTRATION_TRACER "vestige-tracer-1"
/* In shared memory, with a user's number: a page as above, for all places. */
#define REGISTRATION_CALL "vestige-wait-1-"
/* To which a program records at once. */
#define MOST_CHANNELS 16u
/* Bytes of the words of a recording. */
#define LARGEST_WORDS 8192u
/* Rules of triggers, and counters of these. */
#define MOST_WATCHES 4096u
/* Of one of them. */
#define MOST_CAPTURES 256u
/* Bytes of a match with its head. */
#define LARGEST_MATCH 4096u
/* With its zero. */
#define LONGEST_EVENT_NAME 512u
/* As above. */
#define LONGEST_FIELD_NAME 256u

/* What a message is. */
enum message_kind {
	/* From the program, first of all. */
	MESSAGE_HELLO = 1,
	/* From the program: what was asked for is done, or why it is not. */
	MESSAGE_DONE = 2,
	/* From the program: an event that it has. */
	MESSAGE_EVENT = 3,
	/* From the program: a field of the event before. */
	MESSAGE_FIELD = 4,
	/* Record this: a whole recording. */
	MESSAGE_RECORD = 5,
	/* Record nothing more to a memory. */
	MESSAGE_STOP = 6,
	/* Describe the state of the process there once more. */
	MESSAGE_DUMP = 7,
	/* Say which events there are; the answer ends with DONE. */
	MESSAGE_LIST = 8,
	/* The program may begin. It is not answered. */
	MESSAGE_GO = 9,
	/* Tell at once of events that match rules of triggers. */
	MESSAGE_WATCH = 10,
};

/* What became of a request. */
enum joining_status {
	/* It is as it was asked for. */
	JOINING_DONE = 0,
	/* As many others go on as can. */
	JOINING_BUSY = 1,
	/* The memory cannot be had, or the words are malformed. */
	JOINING_FAILED = 2,
};

/* What is told of an event. */
enum capture_kind {
	/* A field. */
	CAPTURE_FIELD = 0,
	/* An element of a field. */
	CAPTURE_ELEMENT = 1,
	/* A context. */
	CAPTURE_CONTEXT = 2,
};

/* Before each message. */
struct message_head {
	uint16_t kind;
	uint16_t version;
	/* Bytes of the message, with this. */
	uint32_t size;
	/* Of the request that is made, or answered. */
	uint32_t generation;
	/* Of an answer, or what a request needs beside. */
	uint32_t status;
};

_Static_assert(offsetof(struct message_head, kind) == 0, "message_head.kind");
_Static_assert(offsetof(struct message_head, version) == 2, "message_head.version");
_Static_assert(offsetof(struct message_head, size) == 4, "message_head.size");
_Static_assert(offsetof(struct message_head, generation) == 8, "message_head.generation");
_Static_assert(offsetof(struct message_head, status) == 12, "message_head.status");
_Static_assert(sizeof(struct message_head) == 16, "message_head");

/* Who a program is. Its user and its process ID are what the kernel says. */
struct message_hello {
	/* Of the agreement. */
	uint64_t fingerprint;
	/* Its inode; 0: unknown. */
	uint64_t pid_namespace;
	/* The inodes of the memories that it records to; 0: no more. */
	uint64_t arenas[16];
	/* As the process sees it. */
	uint32_t vpid;
	/* Of an address. */
	uint32_t bits;
	/* Of the program. */
	char name[16];
};

_Static_assert(offsetof(struct message_hello, fingerprint) == 0, "message_hello.fingerprint");
_Static_assert(offsetof(struct message_hello, pid_namespace) == 8, "message_hello.pid_namespace");
_Static_assert(offsetof(struct message_hello, arenas) == 16, "message_hello.arenas");
_Static_assert(offsetof(struct message_hello, vpid) == 144, "message_hello.vpid");
_Static_assert(offsetof(struct message_hello, bits) == 148, "message_hello.bits");
_Static_assert(offsetof(struct message_hello, name) == 152, "message_hello.name");
_Static_assert(sizeof(struct message_hello) == 168, "message_hello");

/* The words are those of the environment of a recording. */
struct message_record {
	/* Bytes of the words, which follow. */
	uint32_t words_size;
	/* Bytes of the rules, in a file that comes along. */
	uint32_t rules_size;
};

_Static_assert(offsetof(struct message_record, words_size) == 0, "message_record.words_size");
_Static_assert(offsetof(struct message_record, rules_size) == 4, "message_record.rules_size");
_Static_assert(sizeof(struct message_record) == 8, "message_record");

/* Which memory is meant, also by DUMP. */
struct message_stop {
	/* Its inode. */
	uint64_t arena;
};

_Static_assert(offsetof(struct message_stop, arena) == 0, "message_stop.arena");
_Static_assert(sizeof(struct message_stop) == 8, "message_stop");

/* An event that a program has. */
struct message_event {
	int32_t level;
	uint32_t is_recorded;
	/* With that of its provider. */
	char name[512];
};

_Static_assert(offsetof(struct message_event, level) == 0, "message_event.level");
_Static_assert(offsetof(struct message_event, is_recorded) == 4, "message_event.is_recorded");
_Static_assert(offsetof(struct message_event, name) == 8, "message_event.name");
_Static_assert(sizeof(struct message_event) == 520, "message_event");

/* A field of an event. */
struct message_field {
	/* As enum vestige_field_kind has it. */
	uint32_t kind;
	/* As enum vestige_field_flags has it. */
	uint32_t flags;
	char name[256];
};

_Static_assert(offsetof(struct message_field, kind) == 0, "message_field.kind");
_Static_assert(offsetof(struct message_field, flags) == 4, "message_field.flags");
_Static_assert(offsetof(struct message_field, name) == 8, "message_field.name");
_Static_assert(sizeof(struct message_field) == 264, "message_field");

/* All rules of triggers. With the first come a pipe, and memory for counters. */
struct message_watch {
	/* Bytes of the rules, in a file that comes along. */
	uint32_t rules_size;
	/* Of the rules; each has a watch, behind all rules. */
	uint32_t count;
	/* Of all watches, behind these. */
	uint32_t capture_count;
	/* Bytes of their names, behind them. */
	uint32_t text_size;
};

_Static_assert(offsetof(struct message_watch, rules_size) == 0, "message_watch.rules_size");
_Static_assert(offsetof(struct message_watch, count) == 4, "message_watch.count");
_Static_assert(offsetof(struct message_watch, capture_count) == 8, "message_watch.capture_count");
_Static_assert(offsetof(struct message_watch, text_size) == 12, "message_watch.text_size");
_Static_assert(sizeof(struct message_watch) == 16, "message_watch");

/* What is to be told of events that match a rule. */
struct watch_head {
	/* What matches call the rule. */
	uint64_t token;
	/* Of matches that found no room. */
	uint32_t counter;
	/* Of those that follow those of the watch before. */
	uint32_t capture_count;
};

_Static_assert(offsetof(struct watch_head, token) == 0, "watch_head.token");
_Static_assert(offsetof(struct watch_head, counter) == 8, "watch_head.counter");
_Static_assert(offsetof(struct watch_head, capture_count) == 12, "watch_head.capture_count");
_Static_assert(sizeof(struct watch_head) == 16, "watch_head");

/* A value that is to be told. */
struct capture_head {
	/* See enum capture_kind. */
	uint32_t kind;
	/* Of an element. */
	uint32_t index;
	/* Of the name, in the text. */
	uint32_t offset;
	/* Of the name. */
	uint32_t length;
};

_Static_assert(offsetof(struct capture_head, kind) == 0, "capture_head.kind");
_Static_assert(offsetof(struct capture_head, index) == 4, "capture_head.index");
_Static_assert(offsetof(struct capture_head, offset) == 8, "capture_head.offset");
_Static_assert(offsetof(struct capture_head, length) == 12, "capture_head.length");
_Static_assert(sizeof(struct capture_head) == 16, "capture_head");

/* An event matches: what is written to the pipe for matches, at once. */
struct match_head {
	uint64_t token;
	/* Bytes of the captures, which follow in MessagePack. */
	uint32_t size;
	uint32_t reserved;
};

_Static_assert(offsetof(struct match_head, token) == 0, "match_head.token");
_Static_assert(offsetof(struct match_head, size) == 8, "match_head.size");
_Static_assert(offsetof(struct match_head, reserved) == 12, "match_head.reserved");
_Static_assert(sizeof(struct match_head) == 16, "match_head");

#endif
