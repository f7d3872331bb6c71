/* Functions with arguments of all kinds, in registers and on the stack, of which probes know the
 * values. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))
#define OPAQUE() __asm__ volatile("" ::: "memory")

enum color { RED, GREEN = 5, BLUE = -3 };

struct large {
	long members[5];
};

APART double all(int8_t tiny, uint8_t byte, int16_t small, uint16_t word, int32_t number,
		 uint32_t count, int64_t large, uint64_t most, bool is_on, enum color color,
		 void *place, float single, double real)
{
	OPAQUE();
	return tiny + byte + small + word + number + count + (double) large + (double) most +
		is_on + color + (place != NULL) + single + real;
}

APART const char *text(const char *given, long size)
{
	OPAQUE();
	return size > 1 ? given : NULL;
}

APART int behind(struct large first, int number)
{
	OPAQUE();
	return (int) first.members[4] + number;
}

APART float halved(float value)
{
	OPAQUE();
	return value / 2;
}

APART int8_t negative(int value)
{
	OPAQUE();
	return (int8_t) -value;
}

APART bool is_odd(unsigned long value)
{
	OPAQUE();
	return value % 2;
}

APART void nothing(void)
{
	OPAQUE();
}

APART long recursive(long depth)
{
	OPAQUE();
	return depth ? recursive(depth - 1) + depth : 0;
}

static void *thread(void *data)
{
	for (int round = 0; round < 100; round++)
		negative((int) (intptr_t) data);
	return NULL;
}

static void texts(void)
{
	/* A page, and none after it. */
	char *pages =
		mmap(NULL, 2 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	static char lengthy[1000];

	munmap(pages + 4096, 4096);
	memset(lengthy, 'x', sizeof(lengthy) - 1);
	memcpy(pages + 4096 - 4, "end", 4);
	memcpy(pages + 4096 - 300, "cut", 3);
	text("plain", 1);
	text("given back", 2);
	text(NULL, 2);
	text("", 1);
	text(pages + 4096 - 4, 1);
	/* Without an end. */
	memset(pages + 4096 - 8, 'y', 8);
	text(pages + 4096 - 8, 1);
	text(pages + 4096, 1);
	text((const char *) 16, 1);
	text((const char *) 0x8000000000000000, 1);
	text(lengthy, 1);
	text("caf\xc3\xa9 \xff", 1);
}

int main(void)
{
	pthread_t threads[4];
	struct large large = {{1, 2, 3, 4, 5}};
	double sum = all(-1, 200, -300, 60000, -70000, 4000000000u, -5000000000, UINT64_MAX, true,
			 BLUE, (void *) 0x1234, 1.5f, -2.25);
	int status;

	texts();
	sum += behind(large, 42) + halved(3.0f) + negative(5) + is_odd(7) + is_odd(8);
	nothing();
	sum += (double) recursive(10);
	for (intptr_t number = 0; number < 4; number++)
		pthread_create(&threads[number], NULL, thread, (void *) number);
	for (int number = 0; number < 4; number++)
		pthread_join(threads[number], NULL);
	if (!fork())
		_exit(is_odd(11));
	wait(&status);
	printf("%.3f %d\n", sum, WEXITSTATUS(status));
	return 4;
}
