/* What chosen.c and its provider header share. */
#ifndef CHOSEN_H
#define CHOSEN_H

#include <stdint.h>

struct sample {
	int number;
	int8_t tiny;
	int64_t wide;
	uint16_t port;
	uint32_t address;
	float narrow;
	double real;
	const char *text;
	const char *other;
	int16_t pair[2];
	char word[8];
	uint32_t list[4];
	uint16_t ports[4];
	uint8_t count;
};

#define CHOSEN_TEN(macro, tens)						\
	macro(p##tens##0) macro(p##tens##1) macro(p##tens##2) macro(p##tens##3)	\
	macro(p##tens##4) macro(p##tens##5) macro(p##tens##6) macro(p##tens##7)	\
	macro(p##tens##8) macro(p##tens##9)
#define CHOSEN_POINTS(macro)						\
	CHOSEN_TEN(macro, 0) CHOSEN_TEN(macro, 1) CHOSEN_TEN(macro, 2)	\
	CHOSEN_TEN(macro, 3) CHOSEN_TEN(macro, 4) CHOSEN_TEN(macro, 5)	\
	CHOSEN_TEN(macro, 6) CHOSEN_TEN(macro, 7) CHOSEN_TEN(macro, 8)	\
	CHOSEN_TEN(macro, 9)

#define CHOSEN_LEVELS(macro)						\
	macro(EMERG) macro(ALERT) macro(CRIT) macro(ERR) macro(WARNING)	\
	macro(NOTICE) macro(INFO) macro(DEBUG_SYSTEM) macro(DEBUG_PROGRAM)	\
	macro(DEBUG_PROCESS) macro(DEBUG_MODULE) macro(DEBUG_UNIT)	\
	macro(DEBUG_FUNCTION) macro(DEBUG_LINE) macro(DEBUG)

#endif
