/*
 * What programs do to their threads, processes, stacks, signals, descriptors and limits.
 *
 *   torture MODE N
 *
 * Only the functions marked TRACED are instrumented. Each call of one is counted in the
 * file that TORTURE_COUNTER names, which all processes map: as many entries and exits are
 * expected in a recording. Nothing that depends on time is printed.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define TRACED __attribute__((noinline))
#define APART __attribute__((noinline, no_instrument_function))

extern char **environ;

static volatile long *counter;
static const char *self;
static long number;

APART static void map_counter(void)
{
	const char *name = getenv("TORTURE_COUNTER");
	const int file = name ? open(name, O_RDWR | O_CLOEXEC) : -1;

	if (file >= 0) {
		counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
		close(file);
	} else {
		counter = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
			       -1, 0);
	}
	if (counter == MAP_FAILED)
		_exit(99);
}

TRACED void leaf(void)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

TRACED void deep(long depth)
{
	volatile char room[256];

	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	room[0] = 1;
	if (depth)
		deep(depth - 1);
	room[1] = room[0];
}

APART static void calls(long count)
{
	while (count--)
		leaf();
}

APART static void reap(void)
{
	while (wait(NULL) > 0 || errno == EINTR)
		;
}

APART static void say(const char *text, long value)
{
	dprintf(1, "%s %ld\n", text, value);
}

APART static void child_ends(int status)
{
	calls(3);
	_exit(status);
}

/* --- processes --- */

APART static void storm(int depth)
{
	calls(5);
	if (!depth)
		return;
	for (int index = 0; index < 3; index++) {
		if (fork() == 0) {
			storm(depth - 1);
			reap();
			_exit(0);
		}
	}
	reap();
}

APART static void mode_storm(void)
{
	storm((int) number);
}

APART static void *forking_thread(void *argument)
{
	for (long index = 0; index < number; index++) {
		const pid_t child = fork();

		calls(2);
		if (child == 0)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return argument;
}

APART static void *calling_thread(void *argument)
{
	calls((long) argument);
	return NULL;
}

APART static void in_threads(int count, void *(*function)(void *), void *argument)
{
	pthread_t threads[16];

	for (int index = 0; index < count; index++)
		pthread_create(&threads[index], NULL, function, argument);
	for (int index = 0; index < count; index++)
		pthread_join(threads[index], NULL);
}

APART static void mode_forking_threads(void)
{
	in_threads(4, forking_thread, NULL);
}

static volatile sig_atomic_t forks;
static volatile sig_atomic_t is_child;

APART static void forking_handler(int signal)
{
	(void) signal;
	if (is_child || forks >= number)
		return;
	forks++;
	if (fork() == 0)
		is_child = 1;
}

APART static void every(int which, int signal, void (*handler)(int), int flags, long micros)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
	struct itimerval often = {{0, micros}, {0, micros}};

	sigaction(signal, &action, NULL);
	setitimer(which, &often, NULL);
}

/* The child goes on where the handler interrupted its parent. */
APART static void mode_fork_in_handler(void)
{
	every(ITIMER_REAL, SIGALRM, forking_handler, SA_RESTART, 300);
	while (forks < number && !is_child)
		leaf();
	if (is_child)
		child_ends(0);
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
	reap();
	say("forks", forks);
}

APART static void mode_vfork(void)
{
	for (volatile long index = 0; index < number; index++) {
		int status = 0;
		pid_t child;

		calls(1);
		child = vfork();
		if (child == 0) {
			calls(5);
			if (index % 2)
				execl("/bin/true", "true", NULL);
			_exit(7);
		}
		calls(1);
		waitpid(child, &status, 0);
		if (WEXITSTATUS(status) != (index % 2 ? 0 : 7))
			say("status", status);
	}
}

/* The first call of the thread is that of the child. */
APART static void *vforking_thread(void *argument)
{
	const pid_t child = vfork();

	if (child == 0) {
		calls(5);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	calls(2);
	return argument;
}

APART static void mode_vfork_in_thread(void)
{
	for (long index = 0; index < number; index++)
		in_threads(1, vforking_thread, NULL);
}

APART static int cloned(void *argument)
{
	calls((long) argument);
	_exit(5);
}

APART static void clone_with(int flags, long count)
{
	const size_t size = 64 << 10;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const pid_t child = clone(cloned, stack + size, flags | SIGCHLD, (void *) count);
	int status = 0;

	calls(count);
	waitpid(child, &status, 0);
	say("status", WEXITSTATUS(status));
	munmap(stack, size);
}

APART static void mode_clone(void)
{
	clone_with(CLONE_VM | CLONE_VFORK, number);
	clone_with(CLONE_FILES | CLONE_FS, number);
	clone_with(0, number);
}

/* Both run at once, and have one thread pointer. */
APART static void mode_clone_shared(void)
{
	clone_with(CLONE_VM, number);
	calls(number);
}

APART static void mode_raw_fork(void)
{
	for (long index = 0; index < number; index++) {
		const long child = index % 2 ? syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : _Fork();

		calls(2);
		if (child == 0 && index % 3 == 0) {
			if (_Fork() == 0)
				child_ends(0);
			reap();
		}
		if (child == 0)
			_exit(0);
		reap();
	}
}

APART static void mode_spawn(void)
{
	char *const words[] = {(char *) self, "calls", "10", NULL};
	char command[4200];
	char line[64];

	snprintf(command, sizeof(command), "%s calls 10", self);
	for (long index = 0; index < number; index++) {
		int status = -1;
		pid_t child;
		FILE *pipe;

		posix_spawn(&child, self, NULL, NULL, words, environ);
		waitpid(child, &status, 0);
		say("spawned", status);
		say("system", system(command));
		pipe = popen(command, "r");
		while (pipe && fgets(line, sizeof(line), pipe))
			dprintf(1, "popen %s", line);
		say("pclose", pclose(pipe));
	}
}

APART static void mode_exec(void)
{
	char text[24];

	calls(3);
	if (!number)
		return;
	snprintf(text, sizeof(text), "%ld", number - 1);
	execl(self, self, "exec", text, NULL);
}

APART static void *forever(void *argument)
{
	for (;;)
		leaf();
	return argument;
}

APART static void *exec_thread(void *argument)
{
	usleep(3000);
	execl(self, self, "calls", "10", NULL);
	return argument;
}

APART static void many_forever(void)
{
	pthread_t thread;

	for (int index = 0; index < 3; index++)
		pthread_create(&thread, NULL, forever, NULL);
	usleep(2000);
}

APART static void mode_exec_from_thread(void)
{
	pthread_t thread;

	many_forever();
	pthread_create(&thread, NULL, exec_thread, NULL);
	pthread_join(thread, NULL);
}

/* --- ends --- */

APART static void *exiting_thread(void *argument)
{
	leaf();
	pthread_exit(argument);
}

APART static void *cancelled_late(void *argument)
{
	for (;;) {
		leaf();
		pthread_testcancel();
	}
	return argument;
}

/* Not a cancellation point, whatever the hook does. */
APART static void *cancelled_between(void *argument)
{
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
	*(volatile int *) argument = 1;
	usleep(2000);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
	calls(2000);
	*(volatile int *) argument = 2;
	pthread_testcancel();
	return NULL;
}

APART static void *cancelled_anywhere(void *argument)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	for (;;)
		leaf();
	return argument;
}

APART static void cancel(void *(*function)(void *), volatile int *reached)
{
	pthread_t thread;
	void *result = NULL;

	pthread_create(&thread, NULL, function, (void *) reached);
	usleep(500);
	while (reached && !*reached)
		usleep(100);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		say("not cancelled", 1);
}

APART static void mode_exit_threads(void)
{
	for (long index = 0; index < number; index++)
		in_threads(4, exiting_thread, NULL);
}

APART static void mode_cancel(void)
{
	for (long index = 0; index < number; index++) {
		volatile int reached = 0;

		cancel(cancelled_late, NULL);
		cancel(cancelled_between, &reached);
		say("reached", reached);
	}
}

APART static void mode_cancel_anywhere(void)
{
	for (long index = 0; index < number; index++)
		cancel(cancelled_anywhere, NULL);
}

APART static void mode_main_exits(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, calling_thread, (void *) number);
	pthread_detach(thread);
	calls(3);
	pthread_exit(NULL);
}

TRACED void late(void)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

APART static void mode_exit_running(void)
{
	atexit(late);
	many_forever();
	exit(3);
}

APART static void mode_quick_exit(void)
{
	at_quick_exit(late);
	many_forever();
	quick_exit(4);
}

APART static void mode_bare_exit(void)
{
	calls(number);
	_exit(5);
}

APART static void mode_abort(void)
{
	const struct rlimit none = {0, 0};

	setrlimit(RLIMIT_CORE, &none);
	calls(number);
	abort();
}

APART static void mode_kill(void)
{
	calls(number);
	kill(getpid(), SIGKILL);
}

static pthread_key_t keys[3];

/* Sets itself again, until the C library gives up. */
TRACED void key_destructor(void *value)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	pthread_setspecific(keys[(long) value - 1], value);
	calls(3);
}

APART static void *keyed_thread(void *argument)
{
	for (long index = 0; index < 3; index++)
		pthread_setspecific(keys[index], (void *) (index + 1));
	leaf();
	return argument;
}

APART static void mode_keys(void)
{
	for (int index = 0; index < 3; index++)
		pthread_key_create(&keys[index], key_destructor);
	for (long index = 0; index < number; index++)
		in_threads(4, keyed_thread, NULL);
}

/* Threads that end while signals come: none leaves memory behind. */
APART static void mode_late_signals(void);

/* --- signals and stacks --- */

static volatile sig_atomic_t level;

APART static void nested_handler(int signal)
{
	if (level > 3)
		return;
	level++;
	leaf();
	if (level < 3)
		raise(signal);
	leaf();
	level--;
}

APART static void *signalled_thread(void *argument)
{
	(void) argument;
	calls(number);
	return NULL;
}

APART static void all_timers(void (*handler)(int), int flags)
{
	every(ITIMER_REAL, SIGALRM, handler, SA_RESTART | flags, 70);
	if (flags & SA_ONSTACK)
		/* It has room for one handler. */
		return;
	every(ITIMER_PROF, SIGPROF, handler, SA_RESTART | flags, 110);
	every(ITIMER_VIRTUAL, SIGVTALRM, handler, SA_RESTART | flags, 130);
}

APART static void no_timers(void)
{
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
	every(ITIMER_PROF, SIGPROF, SIG_IGN, 0, 0);
	every(ITIMER_VIRTUAL, SIGVTALRM, SIG_IGN, 0, 0);
}

APART static void mode_signals(void)
{
	struct sigaction action = {.sa_handler = nested_handler, .sa_flags = SA_NODEFER};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	all_timers(nested_handler, SA_NODEFER);
	pthread_create(&thread, NULL, signalled_thread, NULL);
	for (int index = 0; index < 3000; index++) {
		pthread_kill(thread, SIGUSR1);
		leaf();
		sched_yield();
		if (pthread_tryjoin_np(thread, NULL) == 0) {
			thread = 0;
			break;
		}
	}
	if (thread)
		pthread_join(thread, NULL);
	no_timers();
}

APART static void simple_handler(int signal)
{
	(void) signal;
	calls(2);
}

static char *altstack_place;
static size_t altstack_size;

APART static void *altstack_thread(void *argument)
{
	const stack_t stack = {.ss_sp = altstack_place, .ss_size = altstack_size};

	(void) argument;
	sigaltstack(&stack, NULL);
	calls(number);
	return NULL;
}

/* A small one above the stack of the thread, with a guard below it. */
APART static void mode_altstack(void)
{
	sigset_t timers;
	sigset_t before;
	pthread_t thread;

	altstack_size = (size_t) sysconf(_SC_MINSIGSTKSZ) + 2048;
	altstack_size = (altstack_size + 4095) & ~(size_t) 4095;
	altstack_place = mmap(NULL, altstack_size + 4096, PROT_NONE,
			      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	altstack_place += 4096;
	mprotect(altstack_place, altstack_size, PROT_READ | PROT_WRITE);
	sigemptyset(&timers);
	sigaddset(&timers, SIGALRM);
	sigaddset(&timers, SIGPROF);
	sigaddset(&timers, SIGVTALRM);
	pthread_create(&thread, NULL, altstack_thread, NULL);
	pthread_sigmask(SIG_BLOCK, &timers, &before);
	all_timers(simple_handler, SA_ONSTACK);
	pthread_join(thread, NULL);
	no_timers();
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

APART static void mode_late_signals(void)
{
	all_timers(simple_handler, 0);
	for (long index = 0; index < number; index++)
		in_threads(4, calling_thread, (void *) 3);
	no_timers();
}

static sigjmp_buf place;
static volatile sig_atomic_t may_jump;

APART static void jumping_handler(int signal)
{
	(void) signal;
	leaf();
	if (may_jump)
		siglongjmp(place, 1);
}

APART static void mode_jump(void)
{
	volatile long done = 0;
	volatile long jumps = 0;

	all_timers(jumping_handler, 0);
	if (sigsetjmp(place, 1))
		jumps++;
	may_jump = 1;
	while (done < number) {
		done++;
		leaf();
	}
	may_jump = 0;
	no_timers();
	counter[1] = jumps;
}

static ucontext_t scheduler;
static ucontext_t coroutines[8];
static volatile int running = -1;
static volatile int finished;

APART static void coroutine(int index)
{
	for (long count = 0; count < number; count++) {
		leaf();
		if (count % 7 == index % 7)
			swapcontext(&coroutines[index], &scheduler);
	}
	finished |= 1 << index;
}

APART static void make_coroutines(void (*function)(int), size_t size)
{
	for (int index = 0; index < 8; index++) {
		char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		getcontext(&coroutines[index]);
		coroutines[index].uc_stack.ss_sp = stack;
		coroutines[index].uc_stack.ss_size = size;
		coroutines[index].uc_link = &scheduler;
		makecontext(&coroutines[index], (void (*)(void)) function, 1, index);
	}
}

APART static void mode_coroutines(void)
{
	make_coroutines(coroutine, 16 << 10);
	while (finished != 0xff) {
		for (int index = 0; index < 8; index++) {
			if (!(finished & 1 << index))
				swapcontext(&scheduler, &coroutines[index]);
		}
	}
}

/* Coroutines that a timer takes the processor from, in the middle of anything. */
APART static void preempt(int signal)
{
	const int index = running;
	const char *here = (const char *) &index;
	const char *stack = index < 0 ? NULL : coroutines[index].uc_stack.ss_sp;

	(void) signal;
	/* The C library's switch is none of the things that may be interrupted. */
	if (!stack || here < stack || here > stack + coroutines[index].uc_stack.ss_size - 1024)
		return;
	running = -1;
	swapcontext(&coroutines[index], &scheduler);
}

APART static void preempted(int index)
{
	for (long count = 0; count < number; count++)
		leaf();
	running = -1;
	finished |= 1 << index;
}

APART static void mode_preempted(void)
{
	make_coroutines(preempted, 64 << 10);
	every(ITIMER_REAL, SIGALRM, preempt, SA_RESTART, 60);
	while (finished != 0xff) {
		for (int index = 0; index < 8; index++) {
			if (finished & 1 << index)
				continue;
			running = index;
			swapcontext(&scheduler, &coroutines[index]);
		}
	}
	every(ITIMER_REAL, SIGALRM, SIG_IGN, 0, 0);
}

APART static void overflow_handler(int signal)
{
	(void) signal;
	leaf();
	siglongjmp(place, 1);
}

/* Twice as deep as the stack, until the handler of the fault ends it. */
APART static void mode_overflow(void)
{
	static char room[64 << 10];
	const stack_t stack = {.ss_sp = room, .ss_size = sizeof(room)};
	struct sigaction action = {.sa_handler = overflow_handler, .sa_flags = SA_ONSTACK};
	volatile long overflows = 0;
	const struct rlimit small = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_STACK, &small);
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(place, 1))
		overflows++;
	if (overflows < number)
		deep(1 << 20);
	calls(10);
	say("overflows", overflows);
}

APART static void *small_thread(void *argument)
{
	calls((long) argument);
	return NULL;
}

APART static void mode_small_stacks(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	for (int index = 0; index < 8; index++) {
		pthread_create(&thread, &attributes, small_thread, (void *) number);
		pthread_join(thread, NULL);
		/* The first thread of a child process tells what is loaded. */
		if (fork() == 0) {
			pthread_create(&thread, &attributes, small_thread, (void *) 3);
			pthread_join(thread, NULL);
			_exit(0);
		}
		reap();
	}
}

APART static void mode_state(void)
{
	long wrong = 0;
	sigset_t before;
	sigset_t after;

	sigemptyset(&before);
	sigaddset(&before, SIGUSR2);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	for (long index = 0; index < number; index++) {
		errno = (int) (index % 99);
		leaf();
		wrong += errno != index % 99;
	}
	pthread_sigmask(SIG_SETMASK, NULL, &after);
	say("errno", wrong);
	say("mask", memcmp(&before, &after, 8));
	say("pending", sigpending(&after) || sigismember(&after, SIGXFSZ));
}

/* --- surroundings --- */

APART static void mode_dlopen(void)
{
	const char *name = getenv("TORTURE_PLUGIN");
	long total = 0;

	for (long index = 0; index < number; index++) {
		void *plugin = dlopen(name, index % 2 ? RTLD_NOW : RTLD_LAZY);
		long (*function)(volatile long *);

		if (!plugin) {
			dprintf(1, "%s\n", dlerror());
			return;
		}
		*(void **) &function = dlsym(plugin, "plugin_call");
		total += function(counter);
		dlclose(plugin);
	}
	say("plugin", total);
}

APART static void mode_descriptors(void)
{
	const int null = open("/dev/null", O_RDWR);
	long wrong = 0;

	calls(100);
	syscall(SYS_close_range, 3, ~0u, 0);
	calls(number);
	for (int file = 3; file < 40; file++)
		dup2(1, file);
	calls(number);
	for (int file = 3; file < 40; file++)
		wrong += close(file) != 0;
	calls(number);
	say("next", open("/dev/null", O_RDONLY) - null);
	say("wrong", wrong);
}

APART static void mode_chdir(void)
{
	calls(number);
	say("chdir", chdir("/"));
	calls(number);
}

APART static void mode_chroot(void)
{
	char empty[] = "/tmp/torture-XXXXXX";

	calls(number);
	if (!mkdtemp(empty))
		return;
	say("chroot", chroot(empty) || chdir("/"));
	calls(number);
	if (fork() == 0)
		child_ends(0);
	reap();
	in_threads(2, calling_thread, (void *) number);
}

APART static void mode_setuid(void)
{
	calls(number);
	say("setuid", setgid(65534) || setuid(65534));
	calls(number);
	if (fork() == 0)
		child_ends(0);
	reap();
	in_threads(2, calling_thread, (void *) number);
}

APART static void mode_umask(void)
{
	umask(0777);
	calls(number);
	in_threads(2, calling_thread, (void *) number);
	if (fork() == 0)
		child_ends(0);
	reap();
}

APART static void limit(int which, rlim_t value)
{
	struct rlimit both;

	getrlimit(which, &both);
	both.rlim_cur = value;
	say("limit", setrlimit(which, &both));
}

APART static void limited_work(void)
{
	calls(number);
	in_threads(1, calling_thread, (void *) number);
	if (fork() == 0)
		child_ends(0);
	reap();
	calls(number);
}

APART static void mode_nofile(void)
{
	limit(RLIMIT_NOFILE, 3);
	limited_work();
}

APART static void mode_fsize(void)
{
	calls(number);
	limit(RLIMIT_FSIZE, 20000);
	limited_work();
	limit(RLIMIT_FSIZE, 0);
	limited_work();
}

APART static void mode_nproc(void)
{
	limit(RLIMIT_NPROC, 0);
	calls(number);
}

/* What is mapped now, and room for nothing. */
APART static void mode_as(void)
{
	calls(10);
	limit(RLIMIT_AS, 4096);
	calls(number);
	say("mmap", mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
			    MAP_FAILED);
	if (fork() == 0)
		child_ends(0);
	reap();
	calls(number);
}

static const int optional_calls[] = {
	SYS_madvise, SYS_prctl, SYS_fallocate, SYS_prlimit64, SYS_openat, SYS_pwrite64,
	SYS_ftruncate, SYS_fchmod, SYS_faccessat, SYS_unlinkat, SYS_readlinkat, SYS_gettid,
};

/* Refuse calls of a list, from the first to the last. */
APART static void refuse(int first, int last, unsigned int answer)
{
	struct sock_filter filter[64] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	unsigned short length = 1;
	struct sock_fprog program = {.filter = filter};

	for (int index = first; index < last; index++) {
		filter[length++] = (struct sock_filter) BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (unsigned int) optional_calls[index], 0, 1);
		filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, answer);
	}
	filter[length++] = (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = length;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		say("no filter", errno);
}

APART static void filtered_child(int first, int last, unsigned int answer)
{
	if (fork() == 0) {
		refuse(first, last, answer);
		calls(number);
		in_threads(1, calling_thread, (void *) number);
		if (fork() == 0)
			child_ends(0);
		reap();
		_exit(0);
	}
	reap();
}

APART static void mode_seccomp(void)
{
	const int count = sizeof(optional_calls) / sizeof(optional_calls[0]);

	for (int index = 0; index < count; index++)
		filtered_child(index, index + 1, SECCOMP_RET_ERRNO | (index % 2 ? EPERM : ENOSYS));
	filtered_child(0, count, SECCOMP_RET_ERRNO | EPERM);
}

APART static void refused_handler(int signal, siginfo_t *info, void *context)
{
	(void) signal;
	(void) info;
	leaf();
#if defined(__x86_64__)
	((ucontext_t *) context)->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	(void) context;
#endif
}

APART static void mode_trap(void)
{
	struct sigaction action = {.sa_sigaction = refused_handler, .sa_flags = SA_SIGINFO};
	const int count = sizeof(optional_calls) / sizeof(optional_calls[0]);

	sigaction(SIGSYS, &action, NULL);
	filtered_child(0, count, SECCOMP_RET_TRAP);
}

APART static void mode_calls(void)
{
	calls(number);
	say("calls", number);
}

APART static void mode_thread(void)
{
	in_threads(8, calling_thread, (void *) number);
}

static const struct {
	const char *name;
	void (*function)(void);
} modes[] = {
	{"abort", mode_abort},
	{"altstack", mode_altstack},
	{"as", mode_as},
	{"bare-exit", mode_bare_exit},
	{"calls", mode_calls},
	{"cancel", mode_cancel},
	{"cancel-anywhere", mode_cancel_anywhere},
	{"chdir", mode_chdir},
	{"chroot", mode_chroot},
	{"clone", mode_clone},
	{"clone-shared", mode_clone_shared},
	{"coroutines", mode_coroutines},
	{"descriptors", mode_descriptors},
	{"dlopen", mode_dlopen},
	{"exec", mode_exec},
	{"exec-from-thread", mode_exec_from_thread},
	{"exit-running", mode_exit_running},
	{"exit-threads", mode_exit_threads},
	{"fork-in-handler", mode_fork_in_handler},
	{"forking-threads", mode_forking_threads},
	{"fsize", mode_fsize},
	{"jump", mode_jump},
	{"keys", mode_keys},
	{"kill", mode_kill},
	{"late-signals", mode_late_signals},
	{"main-exits", mode_main_exits},
	{"nofile", mode_nofile},
	{"nproc", mode_nproc},
	{"overflow", mode_overflow},
	{"preempted", mode_preempted},
	{"quick-exit", mode_quick_exit},
	{"raw-fork", mode_raw_fork},
	{"seccomp", mode_seccomp},
	{"setuid", mode_setuid},
	{"signals", mode_signals},
	{"small-stacks", mode_small_stacks},
	{"spawn", mode_spawn},
	{"state", mode_state},
	{"storm", mode_storm},
	{"threads", mode_thread},
	{"trap", mode_trap},
	{"umask", mode_umask},
	{"vfork", mode_vfork},
	{"vfork-in-thread", mode_vfork_in_thread},
};

APART int main(int count, char **words)
{
	self = words[0];
	number = count > 2 ? atol(words[2]) : 1;
	map_counter();
	for (size_t index = 0; index < sizeof(modes) / sizeof(modes[0]); index++) {
		if (count > 1 && !strcmp(words[1], modes[index].name)) {
			modes[index].function();
			say("done", number);
			return 0;
		}
	}
	return 98;
}
