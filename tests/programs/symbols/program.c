/* What makes the C of an object hard to name: clones, parts, aliases, sections, line marks. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inlined.h"

#define NOINLINE __attribute__((noinline))

volatile int sink;
static int table[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};

/* The same name is local to other.c too. */
static NOINLINE int local(int value)
{
    return mix(value, sink) + 1;
}

__attribute__((noreturn, cold, noinline)) static void fail(const char *reason, int code)
{
    fprintf(stderr, "%s: %d\n", reason, code);
    exit(code);
}

/* The checks are seldom true, so GCC moves them to a part of their own. */
NOINLINE int guarded(int value, int limit)
{
    if (__builtin_expect(value > limit, 0)) {
        fprintf(stderr, "above %d: %d\n", limit, mix(value, limit));
        sink = fold(table, 16);
        abort();
    }
    if (__builtin_expect(value < -limit, 0))
        fail("below", clamp(value, 1, 100));
    return fold(table, value & 15);
}

/* Called with one constant: GCC makes a clone for it. */
static NOINLINE int scaled(int value, int factor, const char *text)
{
    int result = value * factor;
    for (const char *at = text; *at; at++)
        result += mix(*at, factor);
    return result;
}

NOINLINE int early_out(const int *values, int count)
{
    if (!values)
        return 0;
    int sum = fold(values, count);
    for (int index = 0; index < count; index++) {
        switch (values[index]) {
        case 1: sum += local(index); break;
        case 2: sum -= local(sum); break;
        case 3: sum ^= 0x55; break;
        case 4: sum = clamp(sum, 0, 9); break;
        case 5: sum += scaled(sum, 3, "five"); break;
        case 9: sum += scaled(sum, 3, "nine"); break;
        default: sum <<= 1;
        }
    }
    return sum;
}

NOINLINE int variadic(int count, ...)
{
    va_list list;
    va_start(list, count);
    int sum = 0;
    while (count-- > 0)
        sum = mix(sum, va_arg(list, int));
    va_end(list);
    return sum;
}

NOINLINE int original(int value)
{
    return value * 3 + sink;
}
extern int aliased(int value) __attribute__((alias("original")));
extern int weakly_aliased(int value) __attribute__((weak, alias("original")));
static int __attribute__((used)) locally_aliased(int value) __attribute__((alias("original")));

__attribute__((section(".text.elsewhere"), noinline)) int elsewhere(int value)
{
    return shared_by_both(value) + mix(value, 2);
}

__attribute__((weak)) int overridable(int value)
{
    return value - 1;
}

#ifdef WITH_IFUNC
static int chosen_plain(int value) { return value + 7; }
static int chosen_wide(int value) { return value + 9; }
static int (*choose(void))(int) { return sink ? chosen_wide : chosen_plain; }
int chosen(int value) __attribute__((ifunc("choose")));
#else
static NOINLINE int chosen(int value) { return value; }
#endif

#if defined(__GNUC__) && !defined(__clang__)
NOINLINE int with_nested(int value)
{
    int calls = 0;
    auto int inner(int step) __attribute__((noinline));
    int inner(int step)
    {
        calls += step;
        return calls * value;
    }
    return inner(1) + inner(value);
}
#else
NOINLINE int with_nested(int value) { return value; }
#endif

/* The rest of the function claims to come from a grammar. */
NOINLINE int generated(int state)
{
    int result = state;
#line 100 "grammar.y"
    result += mix(state, 1);
#line 7 "/elsewhere/tables.y"
    result ^= fold(table, 8);
    return result;
}
#line 133 "program.c"

NOINLINE int never_returns(int value)
{
    sink = value;
    fail("never", value);
}

NOINLINE int tail_call(int value) { return shared_by_both(value ^ 1); }

static int compare(const void *one, const void *other)
{
    int left = *(const int *)one, right = *(const int *)other;
    return (left > right) - (left < right);
}

int main(int argc, char **argv)
{
    int total = guarded(argc, 1000);
    total += early_out(argc > 7 ? NULL : table, 16) + variadic(3, argc, 2, 3);
    total += aliased(argc) + weakly_aliased(argc) + elsewhere(argc) + overridable(argc);
    total += chosen(argc) + with_nested(argc) + generated(argc) + tail_call(argc);
    total += from_other_unit(argc, argv[0]) + in_assembly(argc) + local(argc);
    qsort(table, 16, sizeof *table, compare);
    if (argc > 99)
        never_returns(total);
    printf("%d %d\n", total, table[0]);
    return 0;
}
