/* Emits each kind of field with ordinary values and with values at the edges. */
#include <float.h>
#include <math.h>
#include <string.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "fields_tp.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void emit_integers(void)
{
	static const uint64_t patterns[] = {
		0, 1, 65, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0x7fffffff, 0x80000000,
		0x0123456789abcdef, 0x7fffffffffffffff, 0x8000000000000000, UINT64_MAX,
	};

	for (size_t i = 0; i < COUNT(patterns); i++) {
		lttng_ust_tracepoint(fields, integers, patterns[i]);
		lttng_ust_tracepoint(fields, hexadecimal, patterns[i]);
		lttng_ust_tracepoint(fields, network, patterns[i]);
	}
}

static void emit_reals(void)
{
	static const double values[] = {
		0.0, -0.0, 1.0, -1.5, 0.1, 1.0 / 3.0, 123456.0, 1234567.0, 1e15, 1e16, 1e22,
		1e-4, 1e-5, 123456789.125, 3.4028235e38, 1e39, FLT_MIN, FLT_MIN / 8,
		DBL_MAX, DBL_MIN, DBL_MIN / 4, 4.9e-324, 299792.5, 999999.5, 9.5367431640625e-07,
	};

	for (size_t i = 0; i < COUNT(values); i++)
		lttng_ust_tracepoint(fields, reals, (float) values[i], values[i]);
	lttng_ust_tracepoint(fields, reals, INFINITY, -INFINITY);
	lttng_ust_tracepoint(fields, reals, -INFINITY, INFINITY);
	lttng_ust_tracepoint(fields, reals, NAN, NAN);
	lttng_ust_tracepoint(fields, reals, copysignf(NAN, -1.0f), copysign(NAN, -1.0));
}

static void emit_arrays(void)
{
	static const int16_t shorts[4] = { -32768, -1, 1, 32767 };
	static const uint32_t words[40] = { 0, 0xdeadbeef, 0xffffffff, 7 };
	int64_t longs[40];
	char letters[41];

	for (size_t i = 0; i < COUNT(longs); i++) {
		longs[i] = (i & 1 ? -1 : 1) * (int64_t) (1ULL << i);
		letters[i] = (char) ('A' + i % 26);
	}
	letters[40] = '\0';

	lttng_ust_tracepoint(fields, arrays, shorts, words, "eight888");
	lttng_ust_tracepoint(fields, arrays, shorts, words + 1, "nul\0tail");
	lttng_ust_tracepoint(fields, arrays, shorts, words + 2, "\0\0\0\0\0\0\0");
	lttng_ust_tracepoint(fields, arrays, shorts, words, "t\tq\"b\\n\n");
	lttng_ust_tracepoint(fields, arrays, shorts, words, "\xc3\xa9t\xc3\xa9 \xe2\x82\xac");

	static const size_t counts[] = { 0, 1, 2, 3, 7, 8, 39, 40 };
	for (size_t i = 0; i < COUNT(counts); i++)
		lttng_ust_tracepoint(fields, sequences, longs, words, letters, counts[i]);
	lttng_ust_tracepoint(fields, sequences, longs, words, "in\0side", 7);
	lttng_ust_tracepoint(fields, sequences, longs, words, "\"\a\b\f\v\x1b\x7f\r", 8);
}

static void emit_strings(void)
{
	char every_byte[256];

	for (int i = 1; i < 256; i++)
		every_byte[i - 1] = (char) i;
	every_byte[255] = '\0';

	lttng_ust_tracepoint(fields, strings, "", "");
	lttng_ust_tracepoint(fields, strings, "plain", "text");
	lttng_ust_tracepoint(fields, strings, "say \"hello\"", "it's a \\ back\\slash?");
	lttng_ust_tracepoint(fields, strings, "tab\tnew\nreturn\rbell\aback\bfeed\fup\v", "nul ends");
	lttng_ust_tracepoint(fields, strings, "\x1b[31mred\x1b[0m", "\x7f delete \x01 one");
	lttng_ust_tracepoint(fields, strings, "gr\xc3\xbc\xc3\x9f gott", "\xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x90\x9f");
	lttng_ust_tracepoint(fields, strings, "broken \xff\xfe utf-8 \xc3", "\xed\xa0\x80 surrogate");
	lttng_ust_tracepoint(fields, strings, every_byte, "every byte");
	lttng_ust_tracepoint(fields, strings, "?\?= ?\?/ trigraphs", "{ braces }, = [x]");
	lttng_ust_tracepoint(fields, strings, NULL, "a null pointer before");
}

static void emit_enumerations(void)
{
	static const int degrees[] = {
		-41, -40, -1, 0, 1, 14, 15, 20, 21, 30, 31, 100, 2147483647, -2147483647 - 1,
	};
	static const unsigned int states[] = {
		0, 1, 2, 199, 200, 201, 202, 3999999999u, 4000000000u, 4294967295u,
	};

	for (size_t i = 0; i < COUNT(degrees); i++)
		lttng_ust_tracepoint(fields, enumerations, degrees[i], states[i % COUNT(states)]);
}

int main(void)
{
	emit_integers();
	emit_reals();
	emit_arrays();
	emit_strings();
	emit_enumerations();
	lttng_ust_tracepoint(fields, nothing);
	lttng_ust_tracepoint(fields, hidden, 42, "not stored");
	lttng_ust_tracepoint(fields, first_pair, 1, 2);
	lttng_ust_tracepoint(fields, second_pair, -1, -2);
	return 0;
}
