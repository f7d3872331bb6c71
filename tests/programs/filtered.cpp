/* Functions for patterns: of namespaces, classes, templates, and without a name of the linker;
 * and with a plugin as argument those of the plugin, loaded, called and unloaded twice. */
#include <dlfcn.h>
#include <stdio.h>

#define APART __attribute__((noinline))

static volatile int counter;

namespace shapes {
struct Circle {
	Circle();
	~Circle();
	APART int area() const { return counter; }
	APART int operator()(int value) const { return value + counter; }
};
APART Circle::Circle() { counter++; }
APART Circle::~Circle() { counter--; }

template <typename Number> APART Number twice(Number value)
{
	counter++;
	return value + value;
}

namespace {
APART void hidden() { counter++; }
}
}

extern "C" APART void plain(void) { counter++; }
static APART void local(void) { counter++; }

int main(int count, char **words)
{
	for (int index = 0; index < 10; index++) {
		shapes::Circle circle;

		circle.area();
		circle(index);
		shapes::twice(index);
		shapes::twice(1.0);
		shapes::hidden();
		plain();
		local();
	}
	for (int index = 1; index < count; index++) {
		void *plugin = dlopen(words[index], RTLD_NOW);

		if (!plugin) {
			fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		reinterpret_cast<void (*)(void)>(dlsym(plugin, "plugin_entry"))();
		dlclose(plugin);
	}
	return 0;
}
