/* Small functions for the compilers to inline, several levels deep. */
#ifndef INLINED_H
#define INLINED_H

#define WEIGHTED(value, weight) \
    ((value) * (weight) + \
     ((value) >> 3))

static inline int clamp(int value, int low, int high)
{
    if (value < low)
        return low;
    return value > high ? high : value;
}

static inline int mix(int one, int other)
{
    int mixed = clamp(one, -1000, 1000) * 31;
    mixed ^= clamp(other, 0, 255);
    return WEIGHTED(mixed, 7);
}

static inline __attribute__((always_inline)) int fold(const int *values, int count)
{
    int sum = 0;
    for (int index = 0; index < count; index++)
        sum = mix(sum, values[index]);
    return sum;
}

int shared_by_both(int value);
int from_other_unit(int value, const char *text);
int in_assembly(int value);

#endif
