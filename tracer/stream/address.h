/* Where the records of an event go, see route.h. */
#ifndef VESTIGE_STREAM_ADDRESS_H
#define VESTIGE_STREAM_ADDRESS_H

#include "record.h"

/* A channel, and what an event is there. */
struct address {
	uint32_t channel;
	/* The number of the recording that this holds for. */
	uint32_t recording;
	/* 0: there is none, and its records are lost. */
	uint32_t class;
	/* Of the channel, as long as this holds. */
	struct context_choice contexts;
	/* Whether a section may append such records, see route_is_usual(). */
	bool is_usual;
	/* To the ring of a CPU, where the thread can. */
	bool is_of_cpus;
	/* Of the rules; NULL: none. */
	const void *filter;
};

struct watch_list;

struct route {
	uint16_t count;
	/* Bits of the addresses that have a filter. */
	uint16_t filtered;
	/* Those of them to which an event goes that was passed before there was anything to keep of that,
	 * see routes_take_passed(). */
	uint16_t before;
	/* See plain_route.h. */
	bool is_plain;
	/* The number of the first route of those that have had filters, one after the other, up to this. */
	uint32_t since;
	/* Rules of triggers, see rules/watches.h; NULL: none. */
	const struct watch_list *watches;
	struct address to[];
};

#endif
