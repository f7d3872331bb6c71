/* Types of a program: a provider header is read several times and defines none. */
#ifndef TYPES_H
#define TYPES_H

enum colour { RED, GREEN = 7 };

struct inner {
	int numbers[3];
	char name[8];
};

#endif
