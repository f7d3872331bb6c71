/* Calls with arguments and results of all kinds; each function is called a known number of times. */
#include <complex.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define APART __attribute__((noinline, noclone))

/* What changes it is called each time. */
static volatile long calls;

struct large {
	long words[6];
};

struct pair {
	double first;
	long second;
};

APART long fibonacci(long n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

APART double floats(double a, float b, double c, double d, double e, double f, double g, double h,
		    double i)
{
	calls++;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + 9 * i;
}

APART long integers(long a, int b, short c, char d, long e, long f, long g, long h)
{
	calls++;
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h;
}

APART long double extended(long double a, double _Complex b)
{
	calls++;
	return a * creal(b) - cimag(b);
}

APART struct large returned(long start)
{
	struct large made;

	calls++;
	for (int index = 0; index < 6; index++)
		made.words[index] = start + index;
	return made;
}

APART struct pair both(struct pair of)
{
	calls++;
	return (struct pair) {of.first * 2, of.second * 3};
}

APART long variable(int count, ...)
{
	va_list arguments;
	double sum = 0;

	va_start(arguments, count);
	for (int index = 0; index < count; index++)
		sum += index % 2 ? va_arg(arguments, int) : va_arg(arguments, double);
	va_end(arguments);
	return (long) sum;
}

APART int compare(const void *one, const void *other)
{
	return *(const int *) one - *(const int *) other;
}

APART long last(long n)
{
	calls++;
	return n * 3;
}

/* It ends with a jump where compilers make one of it. */
APART long jumping(long n)
{
	return last(n + 1);
}

APART int nothing(void)
{
	calls++;
	return 1;
}

int main(void)
{
	int numbers[] = {5, 3, 4};
	struct large large;
	struct pair pair = {1.5, 2};
	double sum = 0;
	long whole = 0;

	for (int round = 0; round < 100; round++) {
		sum += floats(1, 2, 3, 4, 5, 6, 7, 8, 9) + nothing();
		sum += (double) extended(1.5L, 2.0 + 1.0 * I);
		whole += integers(1, 2, 3, 4, 5, 6, 7, 8) + variable(4, 1.5, 2, 2.5, 3);
		large = returned(round);
		whole += large.words[5] + jumping(round);
		pair = both((struct pair) {pair.first / 2, pair.second / 3 + 1});
		sum += pair.first + (double) pair.second;
	}
	qsort(numbers, 3, sizeof(*numbers), compare);
	printf("%ld %.3f %ld %d\n", fibonacci(15), sum, whole, numbers[0]);
	return 0;
}
