/* Places that <sys/sdt.h> would mark, with and without a counter; functions to be probed.
 *
 * The notes are written here, since the header is not everywhere
 * (https://sourceware.org/systemtap/wiki/UserSpaceProbeImplementation). */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TEXT(number) #number
#define NOTE(provider, name, counter)                                                              \
	__asm__ volatile(                                                                          \
		"990: nop\n"                                                                       \
		".pushsection .note.stapsdt, \"?\", \"note\"\n"                                    \
		".balign 4\n"                                                                      \
		".4byte 992f-991f, 994f-993f, 3\n"                                                 \
		"991: .asciz \"stapsdt\"\n"                                                        \
		"992: .balign 4\n"                                                                 \
		"993: .8byte 990b, _.stapsdt.base, " counter "\n"                                  \
		".asciz \"" provider "\", \"" name "\", \"\"\n"                                    \
		"994: .balign 4\n"                                                                 \
		".popsection\n"                                                                    \
		".ifndef _.stapsdt.base\n"                                                         \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n"        \
		".weak _.stapsdt.base\n"                                                           \
		".hidden _.stapsdt.base\n"                                                         \
		"_.stapsdt.base: .space 1\n"                                                       \
		".size _.stapsdt.base, 1\n"                                                        \
		".popsection\n"                                                                    \
		".endif\n")

/* Not 0 while somebody listens. */
__attribute__((section(".probes"), used)) volatile unsigned short shop_sold_counter;

__attribute__((noinline)) static int work(int number)
{
	NOTE("shop", "work", "0");
	return number * 3;
}

__attribute__((noinline)) int sell(int number)
{
	if (number % 2)
		NOTE("shop", "half", "0");
	else
		NOTE("shop", "half", "0");
	if (shop_sold_counter)
		NOTE("shop", "sold", "shop_sold_counter");
	return work(number) + 1;
}

extern __typeof__(sell) sell_again __attribute__((alias("sell")));

static int (*choose(void))(int)
{
	return sell;
}

int chosen(int) __attribute__((ifunc("choose")));

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1;
	int wait = argc > 2;
	int sum = 0;

	if (wait) {
		/* It is there; whoever waits for it says when it is to begin. */
		putchar('.');
		fflush(stdout);
		getchar();
	}
	for (int number = 0; number < count; number++)
		sum += number % 2 ? sell_again(number) : sell(number);
	printf("%d\n", sum + chosen(count));
	return 0;
}
