/* confined_threads: threads that end in a program whose filter lets no thread ask for its CPUs. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define THREADS 4

static pthread_barrier_t barrier;

__attribute__((noinline)) int leaf(int number)
{
	__asm__ volatile("");
	return number + 1;
}

static void *run(void *unused)
{
	leaf(1);
	pthread_barrier_wait(&barrier); /* all have begun */
	pthread_barrier_wait(&barrier); /* the filter is there */
	leaf(2);
	return unused;
}

static long confine(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_getaffinity, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(*filter), filter};

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS + 1);
	for (int index = 0; index < THREADS; index++)
		if (pthread_create(&threads[index], NULL, run, NULL) != 0)
			return 2;
	pthread_barrier_wait(&barrier);
	if (confine() != 0)
		return 3;
	pthread_barrier_wait(&barrier);
	for (int index = 0; index < THREADS; index++)
		pthread_join(threads[index], NULL);
	return 0;
}
