/* A plugin for loading.c with arguments: it weighs when it is loaded, when it is run and when it goes. */
static volatile int total;

int weigh(int weight, const char *what)
{
	total += weight + *what;
	return 2 * weight;
}

__attribute__((constructor)) static void begin(void)
{
	total += weigh(7, "first");
}

__attribute__((destructor)) static void end(void)
{
	total += weigh(9, "last");
}

void plugin_run(void)
{
	total += weigh(8, "again");
}
