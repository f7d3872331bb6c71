/* one_by_one HELD COUNT: threads that record and stay, then as many others, one after the other. */
#include <pthread.h>
#include <stdlib.h>

#define UNTRACED __attribute__((no_instrument_function))

static pthread_barrier_t barrier;

__attribute__((noinline)) int leaf(int number)
{
	__asm__ volatile("");
	return number + 1;
}

UNTRACED static void *hold(void *unused)
{
	leaf(1);
	pthread_barrier_wait(&barrier);
	pthread_barrier_wait(&barrier);
	return unused;
}

UNTRACED static void *call(void *unused)
{
	leaf(2);
	return unused;
}

UNTRACED int main(int count, char **words)
{
	const int held = count == 3 ? atoi(words[1]) : 0;
	const int others = count == 3 ? atoi(words[2]) : 0;
	pthread_t *threads = calloc((size_t) held + 1, sizeof(*threads));

	if (!held || !threads)
		return 2;
	pthread_barrier_init(&barrier, NULL, (unsigned int) held + 1);
	for (int index = 0; index < held; index++)
		if (pthread_create(&threads[index], NULL, hold, NULL) != 0)
			return 3;
	pthread_barrier_wait(&barrier);
	for (int index = 0; index < others; index++)
		if (pthread_create(&threads[held], NULL, call, NULL) != 0 ||
		    pthread_join(threads[held], NULL) != 0)
			return 3;
	pthread_barrier_wait(&barrier);
	for (int index = 0; index < held; index++)
		pthread_join(threads[index], NULL);
	free(threads);
	return 0;
}
