/* Runs a Lua script and prints how long it took, in seconds, as seconds=VALUE. */
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + (double) time.tv_nsec / 1e9;
}

int main(int count, char **words)
{
	lua_State *state = luaL_newstate();
	double begin;

	if (count != 2 || !state)
		return 2;
	luaL_openlibs(state);
	begin = now();
	if (luaL_dofile(state, words[1]) != LUA_OK) {
		fprintf(stderr, "%s\n", lua_tostring(state, -1));
		return 1;
	}
	printf("seconds=%.6f\n", now() - begin);
	lua_close(state);
	return 0;
}
