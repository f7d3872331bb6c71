/* Locks that threads want at the same time, and blocks of memory that come and go. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define OWN __attribute__((noinline))

enum { THREADS = 4, LOCKS = 16, BLOCKS = 64 };

static pthread_mutex_t locks[LOCKS];
static volatile long shared[LOCKS];
static long rounds;

OWN void touch(int number)
{
    pthread_mutex_lock(&locks[number]);
    for (int i = 0; i < 40; i++)
        shared[number] += i;
    pthread_mutex_unlock(&locks[number]);
}

OWN void *change(void *block, long round)
{
    if (!block)
        return round & 1 ? malloc((size_t)round % 1000) : calloc((size_t)round % 300, 3);
    if (round % 5 == 0)
        return realloc(block, (size_t)round % 2000 + 1);
    free(block);
    return NULL;
}

OWN void *serve(void *argument)
{
    void *blocks[BLOCKS] = {NULL};
    long start = (long)(intptr_t)argument;
    for (long round = 0; round < rounds; round++) {
        void **block = &blocks[(round * 31 + start) % BLOCKS];
        /* Every third time all threads want the same one. */
        touch(round % 3 ? (int)((round * 7 + start) % LOCKS) : 0);
        *block = change(*block, round);
    }
    for (int i = 0; i < BLOCKS; i++)
        free(blocks[i]);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    rounds = argc > 1 ? atol(argv[1]) : 1000;
    for (int i = 0; i < LOCKS; i++)
        pthread_mutex_init(&locks[i], NULL);
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, serve, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
