/* A second unit, with a local function that has the name of one in the first. */
#include <string.h>

#include "inlined.h"

static __attribute__((noinline)) int local(const char *text, int value)
{
    int sum = value;
    while (*text)
        sum = mix(sum, *text++);
    return sum;
}

__attribute__((noinline)) int shared_by_both(int value)
{
    int parts[4] = {value, value >> 1, value >> 2, value >> 3};
    return fold(parts, 4);
}

int from_other_unit(int value, const char *text)
{
    if (!strcmp(text, "nothing"))
        return 0;
    return local(text, value) + clamp(value, 1, 2);
}
