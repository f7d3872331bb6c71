/* Finds and reads the counters of threads. */
#define _GNU_SOURCE
#include "perf_counter.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "../base/hash.h"
#include "../base/system.h"
#include "memory.h"

#define PREFIX COUNTER_PREFIX
#define PAGE 4096u
/* How often a thread calls the destructors of its keys, at most. */
#define DESTRUCTOR_ROUNDS 4u

#if defined(__x86_64__)
#define CAN_READ_PROCESSOR 1
#else
#define CAN_READ_PROCESSOR 0
#endif

/* What getrusage(2) and clock_gettime(2) tell. */
enum kernel_count { PAGE_FAULTS, MAJOR_FAULTS, MINOR_FAULTS, CONTEXT_SWITCHES, CPU_TIME };

struct counter {
	bool is_of_kernel;
	/* Of perf_event_open(2). */
	uint32_t type;
	/* Or one of enum kernel_count. */
	uint64_t config;
	/* Of the name: each has a place of its own in records, also if it is another's. */
	uint64_t hash;
};

#define KERNEL(count) {true, 0, count, 0}
#define HARDWARE(event) {false, PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event, 0}
#define CACHE(cache, operation, result)                                          \
	{false, PERF_TYPE_HW_CACHE,                                              \
	 PERF_COUNT_HW_CACHE_##cache | PERF_COUNT_HW_CACHE_OP_##operation << 8 | \
		 PERF_COUNT_HW_CACHE_RESULT_##result << 16,                      \
	 0}

static const struct {
	const char *name;
	struct counter counter;
} known[] = {COUNTER_TABLE};

static struct counter counters[MOST_OPEN_COUNTERS];
static unsigned int counter_count;
/* For the end of threads that have some. */
static pthread_key_t key;
static bool has_key;

/* `raw:rNNN:NAME`, the number as perf(1) has it. */
static bool parse_raw(const char *name, size_t length, struct counter *counter)
{
	const char *end = name + length;
	uint64_t number = 0;
	size_t digits = 0;

	for (name += 5; name < end && *name != ':'; name++, digits++) {
		static const char all[] = "0123456789abcdef";
		const char lower = *name >= 'A' && *name <= 'F' ? (char) (*name + 32) : *name;
		const char *digit = lower ? strchr(all, lower) : NULL;

		if (!digit || digits == 16)
			return false;
		number = number << 4 | (uint64_t) (digit - all);
	}
	*counter = (struct counter) {false, PERF_TYPE_RAW, number, 0};
	return digits && end - name > 1;
}

static bool parse(const char *name, size_t length, struct counter *counter)
{
	if (length <= strlen(PREFIX) || strncmp(name, PREFIX, strlen(PREFIX)) != 0)
		return false;
	name += strlen(PREFIX);
	length -= strlen(PREFIX);
	if (length > 5 && !strncmp(name, "raw:r", 5))
		return parse_raw(name, length, counter);
	for (size_t index = 0; index < sizeof(known) / sizeof(known[0]); index++) {
		if (strlen(known[index].name) != length ||
		    strncmp(known[index].name, name, length) != 0)
			continue;
		*counter = known[index].counter;
		return true;
	}
	return false;
}

int perf_counter_find(const char *name, size_t length)
{
	struct counter wanted;

	if (!parse(name, length, &wanted))
		return -1;
	wanted.hash = hash_bytes(name, length);
	for (unsigned int number = 0; number < counter_count; number++)
		if (counters[number].hash == wanted.hash)
			return (int) number;
	if (counter_count == MOST_OPEN_COUNTERS)
		return -1;
	counters[counter_count] = wanted;
	return (int) counter_count++;
}

static uint64_t ask_kernel(enum kernel_count count)
{
	struct timespec time = {0, 0};
	struct rusage usage;

	if (count == CPU_TIME) {
		system_call(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long) &time, 0, 0, 0, 0);
		return (uint64_t) time.tv_sec * 1000000000u + (uint64_t) time.tv_nsec;
	}
	if (system_call(SYS_getrusage, RUSAGE_THREAD, (long) &usage, 0, 0, 0, 0) != 0)
		return 0;
	switch (count) {
	case PAGE_FAULTS:
		return (uint64_t) (usage.ru_minflt + usage.ru_majflt);
	case MAJOR_FAULTS:
		return (uint64_t) usage.ru_majflt;
	case MINOR_FAULTS:
		return (uint64_t) usage.ru_minflt;
	default:
		return (uint64_t) (usage.ru_nvcsw + usage.ru_nivcsw);
	}
}

static struct perf_event_mmap_page *open_page(const struct counter *counter)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = counter->type,
		.config = counter->config,
		/* What the kernel lets everybody count. */
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	void *page = NULL;
	const long file = system_call(SYS_perf_event_open, (long) &attributes, 0, -1, -1,
				      PERF_FLAG_FD_CLOEXEC, 0);

	if (file < 0)
		return NULL;
	page = system_mmap(NULL, PAGE, PROT_READ, MAP_SHARED, (int) file);
	/* The mapping keeps it. */
	system_close((int) file);
	return page;
}

static int64_t read_processor(uint32_t index)
{
#if defined(__x86_64__)
	uint32_t low;
	uint32_t high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index - 1));
	return (int64_t) ((uint64_t) high << 32 | low);
#else
	(void) index;
	return 0;
#endif
}

/* As the kernel's <linux/perf_event.h> tells it, beside the structure. */
static uint64_t read_page(const volatile struct perf_event_mmap_page *page)
{
	uint32_t sequence;
	uint64_t count;

	do {
		uint32_t index;

		sequence = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		count = (uint64_t) page->offset;
		if (CAN_READ_PROCESSOR && page->cap_user_rdpmc && index && page->pmc_width) {
			const unsigned int unused = 64u - page->pmc_width;
			const uint64_t bits = (uint64_t) read_processor(index) << unused;

			count += (uint64_t) ((int64_t) bits >> unused);
		}
		__asm__ volatile("" ::: "memory");
	} while (page->lock != sequence);
	return count;
}

/* Let go of what the thread has mapped. */
static void close_pages(struct open_counters *own)
{
	/* The kernel does not copy these pages into a child process: there, others may have been
	 * mapped in their place. */
	const bool is_ours = own->process == system_getpid();

	for (unsigned int number = 0; number < MOST_OPEN_COUNTERS; number++) {
		struct perf_event_mmap_page *page = own->pages[number];

		own->pages[number] = NULL;
		if (page && is_ours)
			system_munmap(page, PAGE);
	}
	own->is_tried = 0;
}

uint64_t perf_counter_read(unsigned int number, uint64_t process)
{
	struct notes *notes = stream_memory_notes();
	struct open_counters *own;

	if (counters[number].is_of_kernel)
		return ask_kernel((enum kernel_count) counters[number].config);
	if (!notes)
		return 0;
	own = &notes->counters;
	if (own->process != process) {
		close_pages(own);
		own->process = process;
	}
	if (!own->pages[number] && !(own->is_tried & 1u << number)) {
		own->is_tried |= 1u << number;
		own->pages[number] = open_page(&counters[number]);
	}
	return own->pages[number] ? read_page(own->pages[number]) : 0;
}

/* The end of a thread. Destructors of the program that come before are traced, too. */
static void end_thread(void *value)
{
	struct open_counters *own = value;

	if (++own->rounds < DESTRUCTOR_ROUNDS && pthread_setspecific(key, value) == 0)
		return;
	close_pages(own);
	/* Nothing would close what is opened now. */
	own->is_tried = ~0u;
}

void perf_counters_start(void)
{
	has_key = has_key || (counter_count && pthread_key_create(&key, end_thread) == 0);
}

void perf_counter_attend(void)
{
	struct notes *notes = stream_memory_notes();

	if (!has_key || !notes)
		return;
	notes->counters.rounds = 0;
	pthread_setspecific(key, &notes->counters);
}

bool vestige_can_count(const char *name)
{
	struct counter counter;
	struct perf_event_mmap_page *page;
	bool is_readable;

	if (!parse(name, strlen(name), &counter))
		return false;
	if (counter.is_of_kernel)
		return true;
	page = open_page(&counter);
	if (!page)
		return false;
	is_readable = CAN_READ_PROCESSOR && page->cap_user_rdpmc;
	system_munmap(page, PAGE);
	return is_readable;
}
