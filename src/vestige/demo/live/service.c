/* A service with something wrong in it: four threads answer 400 requests. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { THREADS = 4, REQUESTS = 400, PAGE = 2000 };

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int next_request;
static int answered;
static FILE *journal;
static volatile uint32_t sink;

static void pause_us(long microseconds)
{
	nanosleep(&(struct timespec){0, microseconds * 1000}, NULL);
}

static const char *parse(int request)
{
	return request == 250 ? "/../secret" : "/index";
}

static void refill_cache(void)
{
	pause_us(150000); /* from a slow disk */
}

static void look_up(int request)
{
	if (request == 137)
		refill_cache();
}

static void remember(int request)
{
	char *session = malloc(256);
	if (session != NULL) /* nobody keeps it, and nobody frees it */
		snprintf(session, 256, "session %d", request);
}

static uint32_t digest(const char *page)
{
	uint32_t sum = 1;
	for (int round = 0; round < 400; round++)
		for (int i = 0; i < PAGE; i++)
			sum = sum * 31 + (uint8_t)page[i];
	return sum;
}

static void write_journal(const char *line)
{
	char now[16];
	struct timespec time;
	struct tm local;

	clock_gettime(CLOCK_REALTIME, &time);
	strftime(now, sizeof now, "%H:%M:%S", localtime_r(&time.tv_sec, &local));
	pthread_mutex_lock(&journal_lock);
	fprintf(journal, "%s.%06ld %s\n", now, time.tv_nsec / 1000, line);
	pause_us(100); /* until it is on the disk */
	pthread_mutex_unlock(&journal_lock);
}

static void count(void)
{
	pthread_mutex_lock(&count_lock);
	answered++;
	pthread_mutex_unlock(&count_lock);
}

static void refuse(int request)
{
	char line[64];
	snprintf(line, sizeof line, "error: request %d leads out of the site", request);
	write_journal(line);
}

static void answer(int request)
{
	char *page = malloc(PAGE);
	if (page == NULL)
		abort();
	memset(page, request, PAGE);
	look_up(request);
	sink = digest(page);
	if (request % 10 == 0)
		remember(request);
	free(page);
	if (request % 4 == 0)
		write_journal("answered");
}

static void handle(int request)
{
	if (strstr(parse(request), ".."))
		refuse(request);
	else
		answer(request);
	count();
}

static void *worker(void *unused)
{
	for (int request; (request = next_request++) < REQUESTS;)
		handle(request);
	return unused;
}

int main(void)
{
	pthread_t threads[THREADS];

	journal = fopen("service.log", "w");
	if (journal == NULL)
		return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, worker, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("answered: %d\n", answered);
	fclose(journal);
	return 0;
}
