/* Writes the readable name of each mangled one that it reads, a line each, or nothing. */
#include <stdio.h>
#include <string.h>

#include "../../tracer/rules/cxx_names.h"

int main(void)
{
	static char line[1 << 16];
	char name[512];

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		puts(cxx_name(line, name, sizeof(name)) ? name : "");
	}
	return 0;
}
