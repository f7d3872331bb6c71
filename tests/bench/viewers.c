/* Some millions of calls in four threads, short ones and long ones: see viewers.py. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

enum { THREADS = 4 };

static volatile uint64_t result;
static int rounds;

OWN uint64_t hash(uint64_t value)
{
    value ^= value >> 31;
    value *= 0x9e3779b97f4a7c15U;
    return value ^ value >> 27;
}

OWN uint64_t compare(uint64_t one, uint64_t other)
{
    return hash(one) ^ other;
}

OWN uint64_t descend(uint64_t value, int depth)
{
    return depth ? descend(hash(value), depth - 1) + 1 : compare(value, 3);
}

OWN uint64_t store(uint64_t value)
{
    uint64_t sum = 0;
    for (int i = 0; i < 200; i++)
        sum = sum * 31 + value;
    return hash(sum);
}

OWN uint64_t handle(uint64_t value)
{
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++)
        sum += compare(value, i);
    sum += descend(value, 6);
    return sum + store(sum);
}

OWN void *serve(void *argument)
{
    uint64_t sum = 0;
    for (int i = 0; i < rounds; i++)
        sum += handle((uint64_t)i * 977 + (uintptr_t)argument);
    result += sum;
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    rounds = argc > 1 ? atoi(argv[1]) : 1000;
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, serve, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
