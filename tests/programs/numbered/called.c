/* The function whose entry and exit are recorded; the rest of the program has no hooks. */
#include "numbered.h"

__attribute__((noinline)) void called(unsigned int place, unsigned long number, size_t length)
{
	make_event(place, number, length);
}
