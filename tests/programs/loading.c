/*
 * Loads and unloads plugins; the first argument says how, the others which:
 *
 *   reload N PATH...   each in turn, N times
 *   counted PATH       opens it twice and closes it twice
 *   caller NAME        through libcaller.so, which has a RUNPATH
 *   space PATH         into a namespace of its own, and closes it
 *   spaces PATH        into two, and closes both
 *   failing PATH...    those that cannot be loaded
 *   nested PATH OTHER  the first; its constructor loads the other
 *   threads N PATH...  a thread for each, N times
 *   fork PATH          forks while another thread is in the constructor of the plugin
 *   forked PATH        loads it in a child process that has called nothing before
 *   handler PATH       in a signal handler, on a stack of its own
 *   convert NAME       lets iconv() load a module
 *   kept PATH...       and ends without closing them
 *   pinned PATH        so that closing it does nothing
 *   late PATH          when the process ends
 *   limited PATH       when it may open one more file
 *
 * A plugin is run once after it was loaded.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <iconv.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_THREADS 8

/* The plugin calls it from its constructor. */
void (*while_loading)(void);

void *open_for_me(const char *name);

static char **words;
static long rounds;
static int is_inside[2];
static int may_go_on[2];

static void *checked(void *handle)
{
	if (!handle) {
		fprintf(stderr, "%s\n", dlerror());
		exit(3);
	}
	return handle;
}

static void run(void *handle)
{
	((void (*)(void)) checked(dlsym(handle, "plugin_run")))();
}

static void use(const char *path)
{
	void *handle = checked(dlopen(path, RTLD_NOW));

	run(handle);
	dlclose(handle);
}

static void counted(const char *path)
{
	void *first = checked(dlopen(path, RTLD_NOW));
	void *second = checked(dlopen(path, RTLD_NOW));

	dlclose(first);
	run(second);
	dlclose(second);
	printf("%s\n", dlopen(path, RTLD_NOW | RTLD_NOLOAD) ? "there" : "gone");
}

static void in_space(const char *path)
{
	void *handle = checked(dlmopen(LM_ID_NEWLM, path, RTLD_NOW));

	run(handle);
	dlclose(handle);
}

void at_mark(void)
{
}

static void in_spaces(const char *path)
{
	void *first = checked(dlmopen(LM_ID_NEWLM, path, RTLD_NOW));
	void *second = checked(dlmopen(LM_ID_NEWLM, path, RTLD_NOW));

	at_mark();
	dlclose(first);
	at_mark();
	dlclose(second);
	at_mark();
}

static void load_other(void)
{
	while_loading = NULL;
	use(words[3]);
}

static void *repeat(void *path)
{
	for (long round = 0; round < rounds; round++)
		use(path);
	return NULL;
}

static void in_threads(int count, char **paths)
{
	pthread_t threads[MOST_THREADS];

	for (int index = 0; index < count && index < MOST_THREADS; index++)
		pthread_create(&threads[index], NULL, repeat, paths[index]);
	for (int index = 0; index < count && index < MOST_THREADS; index++)
		pthread_join(threads[index], NULL);
}

static void wait_inside(void)
{
	char byte = 0;

	if (write(is_inside[1], &byte, 1) != 1 || read(may_go_on[0], &byte, 1) != 1)
		exit(4);
}

static void *load_slowly(void *path)
{
	use(path);
	return NULL;
}

void in_child(void)
{
}

static void fork_while_loading(char *path)
{
	pthread_t thread;
	char byte = 0;
	pid_t child;

	if (pipe(is_inside) != 0 || pipe(may_go_on) != 0)
		exit(4);
	while_loading = wait_inside;
	pthread_create(&thread, NULL, load_slowly, path);
	if (read(is_inside[0], &byte, 1) != 1)
		exit(4);
	child = fork();
	if (child == 0) {
		in_child();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	if (write(may_go_on[1], &byte, 1) != 1)
		exit(4);
	pthread_join(thread, NULL);
}

__attribute__((no_instrument_function)) static void load_in_child(const char *path)
{
	pid_t child = fork();

	if (child == 0) {
		use(path);
		_exit(0);
	}
	waitpid(child, NULL, 0);
}

static void handler(int number)
{
	(void) number;
	use(words[2]);
}

static void in_handler(void)
{
	stack_t stack = {.ss_sp = malloc(16384), .ss_size = 16384};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static void convert(const char *name)
{
	iconv_t state = iconv_open("UTF-8", name);

	printf("%s\n", state == (iconv_t) -1 ? "unknown" : "known");
	if (state != (iconv_t) -1)
		iconv_close(state);
}

static void use_late(void)
{
	use(words[2]);
}

static void use_at_limit(const char *path)
{
	struct rlimit limit;
	int last = -1;

	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = 32;
	setrlimit(RLIMIT_NOFILE, &limit);
	for (int file = 0; file >= 0; file = open("/dev/null", O_RDONLY))
		last = file;
	close(last);
	use(path);
}

int main(int count, char **all_words)
{
	const char *how = all_words[1];

	words = all_words;
	if (!strcmp(how, "reload")) {
		for (rounds = atol(words[2]); rounds > 0; rounds--)
			for (int index = 3; index < count; index++)
				use(words[index]);
	} else if (!strcmp(how, "counted")) {
		counted(words[2]);
	} else if (!strcmp(how, "caller")) {
		run(checked(open_for_me(words[2])));
	} else if (!strcmp(how, "space")) {
		in_space(words[2]);
	} else if (!strcmp(how, "spaces")) {
		in_spaces(words[2]);
	} else if (!strcmp(how, "failing")) {
		for (int index = 2; index < count; index++)
			printf("%s\n", dlopen(words[index], RTLD_NOW) ? "loaded" : "failed");
	} else if (!strcmp(how, "nested")) {
		while_loading = load_other;
		use(words[2]);
	} else if (!strcmp(how, "threads")) {
		rounds = atol(words[2]);
		in_threads(count - 3, words + 3);
	} else if (!strcmp(how, "fork")) {
		fork_while_loading(words[2]);
	} else if (!strcmp(how, "forked")) {
		load_in_child(words[2]);
	} else if (!strcmp(how, "handler")) {
		in_handler();
	} else if (!strcmp(how, "convert")) {
		convert(words[2]);
	} else if (!strcmp(how, "kept")) {
		for (int index = 2; index < count; index++)
			run(checked(dlopen(words[index], RTLD_NOW)));
	} else if (!strcmp(how, "pinned")) {
		dlclose(checked(dlopen(words[2], RTLD_NOW | RTLD_NODELETE)));
		use(words[2]);
	} else if (!strcmp(how, "late")) {
		atexit(use_late);
	} else if (!strcmp(how, "limited")) {
		use_at_limit(words[2]);
	}
	printf("done\n");
	return 0;
}
