/*
 * A program that counts its calls where they are seen when it was killed:
 *
 *   counted FILE THREADS CALLS   CALLS is 0 for calls without end
 *
 * FILE is mapped. It has two 64-bit numbers for each thread: its ID, and the calls that it
 * completed. The calls go to some functions in turn, so that a record that is missing in
 * the middle is seen, too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))
#define MOST_THREADS 64
#define FUNCTIONS 7

struct progress {
	volatile uint64_t thread;
	volatile uint64_t calls;
};

static struct progress *progress;
static uint64_t wanted;
static volatile int spent;

APART void turn0(void) { spent += 0; }
APART void turn1(void) { spent += 1; }
APART void turn2(void) { spent += 2; }
APART void turn3(void) { spent += 3; }
APART void turn4(void) { spent += 4; }
APART void turn5(void) { spent += 5; }
APART void turn6(void) { spent += 6; }

static void (*const turns[FUNCTIONS])(void) = {turn0, turn1, turn2, turn3,
					       turn4, turn5, turn6};

PLAIN static void *work(void *argument)
{
	struct progress *mine = argument;

	mine->thread = (uint64_t) syscall(SYS_gettid);
	while (!wanted || mine->calls < wanted) {
		turns[mine->calls % FUNCTIONS]();
		mine->calls++;
		for (int index = 0; index < 300; index++)
			__asm__ volatile("");
	}
	return NULL;
}

PLAIN int main(int count, char **words)
{
	pthread_t threads[MOST_THREADS];
	int number = count > 2 ? atoi(words[2]) : 1;
	const size_t size = MOST_THREADS * sizeof(struct progress);
	int file = open(words[1], O_RDWR | O_CREAT, 0600);

	if (file < 0 || ftruncate(file, (off_t) size) != 0 || number > MOST_THREADS)
		return 1;
	progress = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (progress == MAP_FAILED)
		return 1;
	wanted = count > 3 ? strtoull(words[3], NULL, 10) : 0;
	printf("ready\n");
	fflush(stdout);
	for (int index = 0; index < number; index++)
		pthread_create(&threads[index], NULL, work, &progress[index]);
	for (int index = 0; index < number; index++)
		pthread_join(threads[index], NULL);
	return 0;
}
