/* Calls each function that a helper stands in for, from lines of their own; or many of them,
 * in several threads, and tells how many. */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define KEPT 64

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long allocated, cleared, resized, freed;
static int rounds;

static void each(void)
{
	void *one = malloc(1234567);
	void *two = calloc(3, 777);
	void *three = realloc(two, 99999);
	void *four = memalign(64, 4321);
	void *five = NULL;
	int status = posix_memalign(&five, 128, 8765);
	int refused = posix_memalign(&two, 3, 8765);

	free(one);
	free(three);
	free(four);
	free(five);
	free(NULL);
	errno = 77;
	free(malloc(55));
	printf("%d %d %d\n", status, refused == EINVAL, errno);
}

static void mutexes(void)
{
	pthread_mutex_lock(&lock);
	printf("%d\n", pthread_mutex_trylock(&lock) == EBUSY);
	pthread_mutex_unlock(&lock);
	printf("%d\n", pthread_mutex_trylock(&lock));
	pthread_mutex_unlock(&lock);
}

/* Frees what it has, if anything. */
static long clear(void **place)
{
	long count = *place != NULL;

	if (*place)
		free(*place);
	*place = NULL;
	return count;
}

static void *storm(void *argument)
{
	unsigned int random = (unsigned int) (size_t) argument;
	long counts[4] = {0};
	void *kept[KEPT] = {NULL};

	for (int round = 0; round < rounds; round++) {
		void **place;

		random = random * 1103515245 + 12345;
		place = &kept[random >> 16 & (KEPT - 1)];
		switch (random >> 24 & 3) {
		case 0:
			counts[3] += clear(place);
			*place = malloc(random >> 20 & 255);
			counts[0]++;
			break;
		case 1:
			counts[3] += clear(place);
			*place = calloc(3, random >> 22 & 63);
			counts[1]++;
			break;
		case 2:
			*place = realloc(*place, 1 + (random >> 18 & 1023));
			counts[2]++;
			break;
		default:
			counts[3] += clear(place);
		}
	}
	for (int index = 0; index < KEPT; index++)
		counts[3] += clear(&kept[index]);
	pthread_mutex_lock(&lock);
	allocated += counts[0];
	cleared += counts[1];
	resized += counts[2];
	freed += counts[3];
	pthread_mutex_unlock(&lock);
	/* Makes the C library free something when the thread has ended. */
	return strerror(123456) ? NULL : argument;
}

static void storms(int count)
{
	pthread_t threads[KEPT];

	for (int index = 0; index < count; index++)
		pthread_create(&threads[index], NULL, storm, (void *) (size_t) (index + 1));
	for (int index = 0; index < count; index++)
		pthread_join(threads[index], NULL);
	printf("%ld %ld %ld %ld\n", allocated, cleared, resized, freed);
}

/* One thread after the other, each where the one before was. */
static void relay(int count)
{
	pthread_t thread;

	for (int index = 0; index < count; index++) {
		pthread_create(&thread, NULL, storm, (void *) (size_t) (index + 1));
		pthread_join(thread, NULL);
	}
	printf("%ld %ld %ld %ld\n", allocated, cleared, resized, freed);
}

/* A child that closes all files, as daemons do, and allocates then. */
static void daemons(int count)
{
	for (int index = 0; index < count; index++) {
		if (fork() == 0) {
			for (int file = 3; file < 1024; file++)
				close(file);
			rounds = 100;
			storm((void *) (size_t) 7);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	printf("%d\n", count);
}

int main(int count, char **words)
{
	const int number = count > 2 ? atoi(words[2]) : 0;

	rounds = count > 3 ? atoi(words[3]) : 0;
	if (!strcmp(words[1], "each"))
		each();
	else if (!strcmp(words[1], "mutexes"))
		mutexes();
	else if (!strcmp(words[1], "storm"))
		storms(number);
	else if (!strcmp(words[1], "relay"))
		relay(number);
	else if (!strcmp(words[1], "daemons"))
		daemons(number);
	return 0;
}
