// Exceptions that leave calls: through frames with and without destructors.
#include <cstdlib>

namespace {
volatile long counter;
}

struct Guard {
	~Guard();
};

__attribute__((noinline)) Guard::~Guard()
{
	counter = counter + 1;
}

__attribute__((noinline)) void thrower(int number)
{
	if (number >= 0)
		throw number;
	counter = counter + 1;
}

__attribute__((noinline)) void guarded(int number)
{
	Guard guard;
	thrower(number);
	counter = counter + 1;
}

__attribute__((noinline)) bool catcher(int number)
{
	try {
		guarded(number);
	} catch (int caught) {
		return caught == number;
	}
	return false;
}

int main(int count, char **words)
{
	int number = count > 1 ? std::atoi(words[1]) : 1;
	int done = 0;

	for (int index = 0; index < number; index++)
		done += catcher(index);
	return done == number ? 0 : 1;
}
