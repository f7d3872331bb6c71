/* Forks N children, 50 at a time; each calls step() 100 times within child(). */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_A_TIME 50

__attribute__((noinline)) int step(int number)
{
	__asm__ volatile("");
	return number + 1;
}

__attribute__((noinline)) int child(void)
{
	int sum = 0;
	for (int index = 0; index < 100; index++)
		sum = step(sum);
	return sum;
}

int main(int count, char **arguments)
{
	int children = count > 1 ? atoi(arguments[1]) : 0;
	for (int index = 0; index < children; index++) {
		pid_t made = fork();
		if (made < 0)
			return 1;
		if (made == 0) {
			child();
			exit(0);
		}
		if (index % AT_A_TIME == AT_A_TIME - 1)
			while (wait(NULL) > 0)
				;
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
