// Exceptions that pass through functions of a C library: from a comparison of qsort() or bsearch().
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int thrown;
static int cleaned;

struct Cleaner {
	~Cleaner()
	{
		cleaned++;
	}
};

static int compare(const void *one, const void *other)
{
	const int left = *static_cast<const int *>(one);
	const int right = *static_cast<const int *>(other);

	if (left == 13 || right == 13) {
		thrown++;
		throw std::runtime_error("thirteen");
	}
	return left - right;
}

static int sort_some(int round)
{
	Cleaner cleaner;
	std::vector<int> values {9, 4, round % 2 ? 13 : 12, 7};

	try {
		qsort(values.data(), values.size(), sizeof(int), compare);
	} catch (const std::runtime_error &error) {
		return std::string(error.what()) == "thirteen";
	}
	return values[3] == 12 ? 2 : 3;
}

static int search(int round)
{
	const int values[] = {1, 5, 13, 20};
	const int key = round;

	return bsearch(&key, values, 4, sizeof(int), compare) != nullptr;
}

int main()
{
	int sum = 0;
	int caught = 0;

	for (int round = 0; round < 1000; round++) {
		sum += sort_some(round);
		try {
			Cleaner cleaner;
			sum += search(round % 30);
		} catch (...) {
			caught++;
		}
	}
	std::thread([&] { sum += sort_some(1); }).join();
	std::printf("%d %d %d %d\n", sum, caught, cleaned, thrown);
}
