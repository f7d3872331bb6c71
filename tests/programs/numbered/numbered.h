/* What the files of the program share. */
#ifndef NUMBERED_H
#define NUMBERED_H

#include <stddef.h>

/* Makes the event of a thread that has this number. */
void make_event(unsigned int place, unsigned long number, size_t length);

/* The same, with entry and exit of a function around it. */
void called(unsigned int place, unsigned long number, size_t length);

#endif
