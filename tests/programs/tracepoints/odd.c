/* Each event of the provider, most of them with several values. */
#include <limits.h>

#include "odd-tp.h"

int main(void)
{
	static const int numbers[] = {0, 1, 2, 10, 11, 19, 20, 29, 30, 31, -4, -5};
	static const uint32_t words[] = {1, 0x80000000, 0xffffffff};
	static const int16_t halves[] = {0x4241, 0x4443};
	static const char letters[] = {'a', 'b', 'c', 'd', 'e'};

	lttng_ust_tracepoint(odd, no_arguments);
	lttng_ust_tracepoint(odd, void_arguments);
	lttng_ust_tracepoint(odd, texts, "text", letters, 3);
	lttng_ust_tracepoint(odd, texts, "", letters, 0);
	lttng_ust_tracepoint(odd, texts, NULL, letters, 5);
	lttng_ust_tracepoint(odd, texts, "a \"quoted\" \\ line\n and \x01 \xc3\xa4", "\0b\0c", 4);
	lttng_ust_tracepoint(odd, unwritten, -2, halves);
	for (unsigned int length = 0; length < 4; length++)
		lttng_ust_tracepoint(odd, sequences, words, length);
	for (unsigned int i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		lttng_ust_tracepoint(odd, labels, numbers[i]);
	lttng_ust_tracepoint(odd, large_labels, 1);
	lttng_ust_tracepoint(odd, large_labels, 0x8000000000000000u);
	lttng_ust_tracepoint(odd, large_labels, UINT64_MAX);
	lttng_ust_tracepoint(odd, ten, INT_MIN, LONG_MAX, 'c', -3, 1.5f, -2.25, "seven",
			     UINT64_MAX, INT64_MIN, (void *) 0x1234);
	lttng_ust_tracepoint(odd, one, 1, 2);
	lttng_ust_tracepoint(odd, other, 3, 4);
	if (lttng_ust_tracepoint_enabled(odd, one))
		lttng_ust_do_tracepoint(odd, one, 5, 6);
	return 0;
}
