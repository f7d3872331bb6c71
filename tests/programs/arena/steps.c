/*
 * Small programs for the tracer alone:
 *
 *   steps churn N     N threads, one after the other; prints how many kilobytes it has grown
 *   steps at-once N   N threads with 20 calls each, which stay until all have made theirs
 *   steps names       thread names that change; a packet and more for each
 *   steps calls N     N calls
 *   steps trap N      calls whose hooks are interrupted after each of N instructions, by a
 *                     handler with calls for several packets; prints how many calls there were
 *   steps jumps N     calls whose hooks are interrupted after each of N instructions, by a
 *                     handler that jumps away, or by one whose own hook is interrupted by one
 *                     that does; prints how many calls there were, and how many jumps
 *   steps filter N    N calls, after a filter that ends the program at most system calls
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define APART __attribute__((noinline))
#define PLAIN __attribute__((no_instrument_function))

APART void leaf(void)
{
	__asm__ volatile("");
}

static volatile long calls_made;

/* One that counts itself between its entry and its exit. */
APART void counted_leaf(void)
{
	calls_made++;
}

PLAIN static void calls(long count)
{
	while (count--)
		leaf();
}

PLAIN static void *thread(void *argument)
{
	calls(1);
	return argument;
}

PLAIN static long anonymous_kilobytes(void)
{
	FILE *file = fopen("/proc/self/status", "r");
	char line[256];
	long size = 0;

	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "RssAnon: %ld kB", &size) == 1)
			break;
	fclose(file);
	return size;
}

PLAIN static void churn(long count)
{
	long before = 0;

	for (long index = 0; index < count; index++) {
		pthread_t one;

		pthread_create(&one, NULL, thread, NULL);
		pthread_join(one, NULL);
		/* As many threads a second as programs have, and no more. */
		usleep(100);
		if (index == count / 10)
			before = anonymous_kilobytes();
	}
	printf("%ld\n", anonymous_kilobytes() - before);
}

static pthread_barrier_t all_have_called;

PLAIN static void *staying_thread(void *argument)
{
	calls(20);
	pthread_barrier_wait(&all_have_called);
	return argument;
}

PLAIN static void call_at_once(long count)
{
	pthread_t threads[count];

	pthread_barrier_init(&all_have_called, NULL, (unsigned int) count);
	for (long index = 0; index < count; index++)
		pthread_create(&threads[index], NULL, staying_thread, NULL);
	for (long index = 0; index < count; index++)
		pthread_join(threads[index], NULL);
}

PLAIN static void names(void)
{
	calls(5000);
	prctl(PR_SET_NAME, "second");
	calls(5000);
	pthread_setname_np(pthread_self(), "third");
	calls(5000);
}

#if defined(__x86_64__)
/* The trap flag has the processor stop after each instruction. */
#define STEP() __asm__ volatile("pushfq; orq $0x100, (%%rsp); popfq" ::: "memory", "cc")
#define RUN() __asm__ volatile("pushfq; andq $~0x100, (%%rsp); popfq" ::: "memory", "cc")
#define WITHOUT_STEPS(context) ((context)->uc_mcontext.gregs[REG_EFL] &= ~0x100LL)
#else
#define STEP()
#define RUN()
#define WITHOUT_STEPS(context) ((void) (context))
#endif

static volatile long instruction;
static volatile long wanted;

/* What comes after it runs without a stop. */
PLAIN static void trap(int number, siginfo_t *information, void *context)
{
	(void) number;
	(void) information;
	if (++instruction != wanted)
		return;
	calls(300);
	WITHOUT_STEPS((ucontext_t *) context);
}

PLAIN static void trace_calls(long count)
{
	struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	for (wanted = 1; wanted <= count; wanted++) {
		instruction = 0;
		STEP();
		leaf();
		RUN();
		/* Those that are not reached have no handler. */
		if (instruction < wanted)
			break;
	}
	printf("%ld\n", 300 * (wanted - 1) + wanted - (wanted > count));
}

static volatile long second_wanted;
static volatile bool is_in_handler;
static volatile long jumps_made;
static sigjmp_buf place;

PLAIN static void trap_and_jump(int number)
{
	(void) number;
	if (++instruction != (is_in_handler ? second_wanted : wanted))
		return;
	if (!is_in_handler && second_wanted) {
		is_in_handler = true;
		instruction = 0;
		STEP();
		counted_leaf();
		RUN();
		/* It was not reached. */
	}
	jumps_made++;
	siglongjmp(place, 1);
}

/* With calls between, which nobody interrupts. */
PLAIN static void jump_once(void)
{
	if (!sigsetjmp(place, 1)) {
		instruction = 0;
		is_in_handler = false;
		STEP();
		counted_leaf();
		RUN();
	}
	RUN();
	calls(20);
	calls_made += 20;
}

PLAIN static void jumps(long count)
{
	struct sigaction action = {.sa_handler = trap_and_jump, .sa_flags = SA_NODEFER};
	long jumped;

	calls(1);
	calls_made++;
	sigaction(SIGTRAP, &action, NULL);
	for (wanted = 1; wanted <= count; wanted++) {
		jumped = jumps_made;
		second_wanted = 0;
		jump_once();
		/* Those that are not reached have no handler. */
		if (jumps_made == jumped)
			break;
		second_wanted = 1 + wanted * 7 % 120;
		jump_once();
	}
	printf("%ld %ld\n", calls_made, jumps_made);
}

#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(call) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), \
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

PLAIN static void filter(long count)
{
	struct sock_filter code[] = {
		LOAD_NUMBER,
		ALLOW(write), ALLOW(exit_group), ALLOW(exit),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	calls(count);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (count % 2)
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
	else
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program);
	calls(count);
	if (write(1, "filtered\n", 9) != 9)
		_exit(3);
	_exit(0);
}

PLAIN int main(int count, char **words)
{
	const long number = count > 2 ? atol(words[2]) : 0;

	if (!strcmp(words[1], "churn"))
		churn(number);
	else if (!strcmp(words[1], "at-once"))
		call_at_once(number);
	else if (!strcmp(words[1], "names"))
		names();
	else if (!strcmp(words[1], "calls"))
		calls(number);
	else if (!strcmp(words[1], "trap"))
		trace_calls(number);
	else if (!strcmp(words[1], "jumps"))
		jumps(number);
	else if (!strcmp(words[1], "filter"))
		filter(number);
	return 0;
}
