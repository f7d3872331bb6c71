// Exceptions that pass through traced functions, caught and thrown again, in threads, and
// thread-local objects whose destructors are traced.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

#define APART __attribute__((noinline, no_instrument_function))

static thread_local long depth;

__attribute__((noinline)) static void sink(long levels)
{
    struct Guard {
        __attribute__((noinline)) ~Guard() { depth--; }
    } guard;

    depth++;
    if (levels == 0)
        throw std::runtime_error("bottom");
    sink(levels - 1);
}

__attribute__((noinline)) static void again(long levels)
{
    try {
        sink(levels);
    } catch (const std::runtime_error &) {
        throw;
    }
}

struct Late {
    __attribute__((noinline)) Late() {}
    __attribute__((noinline)) ~Late() { depth = 0; }
};

APART static void work(long count)
{
    static thread_local Late late;

    for (long index = 0; index < count; index++) {
        try {
            again(index % 10);
        } catch (const std::runtime_error &) {
        }
    }
}

APART int main(int, char **words)
{
    const long count = std::atol(words[1]);
    std::vector<std::thread> threads;

    for (int index = 0; index < 4; index++)
        threads.emplace_back(work, count);
    for (auto &thread : threads)
        thread.join();
    std::printf("%ld\n", depth);
    return 0;
}
