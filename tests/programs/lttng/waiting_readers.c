/* Threads that pass LTTng-UST's read side all at once, and record nothing. */
#include <pthread.h>

#define THREADS 40

void lttng_ust_tp_rcu_read_lock(void);
void lttng_ust_tp_rcu_read_unlock(void);

static pthread_barrier_t all_have_passed;

static void *pass(void *argument)
{
	lttng_ust_tp_rcu_read_lock();
	lttng_ust_tp_rcu_read_unlock();
	pthread_barrier_wait(&all_have_passed);
	return argument;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&all_have_passed, NULL, THREADS);
	for (int index = 0; index < THREADS; index++)
		pthread_create(&threads[index], NULL, pass, NULL);
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
	return 0;
}
