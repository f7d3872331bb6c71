// Exceptions through functions whose return addresses may have been replaced, and backtraces.
#include <cstdio>
#include <cstring>
#include <execinfo.h>
#include <stdexcept>

#define APART __attribute__((noinline, noclone))

static volatile int sink;
static volatile int cleaned;

struct Guard {
	~Guard() { cleaned = cleaned + 1; }
};

APART int throw_from(int depth)
{
	if (depth == 0)
		throw std::runtime_error("deep");
	const int result = throw_from(depth - 1) + 1;
	sink = result;
	return result;
}

APART int pass_on(int depth)
{
	Guard guard;
	try {
		return throw_from(depth) + 1;
	} catch (int) {
		return 7;
	}
}

APART int count_frames(int depth)
{
	if (depth) {
		const int result = count_frames(depth - 1);
		sink = result;
		return result;
	}
	void *frames[128];
	char **names;
	const int count = backtrace(frames, 128);
	int found = 0;

	names = backtrace_symbols(frames, count);
	for (int index = 0; index < count; index++)
		found += names && std::strstr(names[index], "main") != nullptr;
	return found;
}

int main()
{
	int caught = 0;

	for (int round = 0; round < 1000; round++) {
		try {
			caught += pass_on(round % 20);
		} catch (const std::exception &) {
			caught++;
		}
	}
	std::printf("caught %d cleaned %d main %d\n", caught, cleaned,
		    count_frames(10) > 0);
	return 0;
}
