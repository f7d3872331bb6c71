/*
 * Events with many values: each tracepoint of the provider takes each sample once.
 *
 *     chosen            all samples, and one event of each log level
 *     chosen COUNT      the first tracepoint only, so often, with the last sample
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "chosen_tp.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES 24

static struct sample samples[SAMPLES];

static void fill(int index)
{
	static const char *const texts[] = {
		"", "bash", "bas", "bash shell", "/bin/ls", "a*b", "lttng-sessiond", "\\",
	};
	static const int64_t wides[] = {
		0, 1, -1, 63, 64, INT64_MAX, INT64_MIN, 0x240, 4096,
	};
	static const double reals[] = {0, 0.5, -0.5, 1, 17.34e9, -3.25, 1e300};
	struct sample *it = &samples[index];

	it->number = index - 4;
	it->tiny = (int8_t) (index * 11);
	it->wide = wides[index % 9];
	it->port = (uint16_t) (index * 3000);
	it->address = 0x7f000001u + (uint32_t) index * 0x01000000u;
	it->real = reals[index % 7];
	it->narrow = (float) reals[index % 5];
	it->text = texts[index % 8];
	it->other = texts[(index * 3) % 8];
	it->pair[0] = (int16_t) (index - 12);
	it->pair[1] = (int16_t) (index * 2000);
	strncpy(it->word, index % 2 ? "eightchr" : "five5", sizeof(it->word));
	for (int place = 0; place < 4; place++) {
		it->list[place] = (uint32_t) (index * place) << (place * 8);
		it->ports[place] = htons((uint16_t) (index + place));
	}
	it->count = (uint8_t) (index % 5);
	if (it->count > strlen(it->text))
		it->count = (uint8_t) strlen(it->text);
}

int main(int count, char **words)
{
	for (int index = 0; index < SAMPLES; index++)
		fill(index);
	if (count > 1) {
		for (long left = atol(words[1]); left > 0; left--)
			lttng_ust_tracepoint(chosen, p00, &samples[SAMPLES - 1]);
		return 0;
	}
	for (int index = 0; index < SAMPLES; index++) {
#define EMIT(name) lttng_ust_tracepoint(chosen, name, &samples[index]);
		CHOSEN_POINTS(EMIT)
	}
#define EMIT_LEVEL(level) lttng_ust_tracepoint(chosen, level, LTTNG_UST_TRACEPOINT_LOGLEVEL_##level);
	CHOSEN_LEVELS(EMIT_LEVEL)
	return 0;
}
