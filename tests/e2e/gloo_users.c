/* SPDX-License-Identifier: Apache-2.0 */
/* gloo_users RANK SIZE STORE ROUNDS LIBRARY...: opens libraries that use Gloo (gloo_user.cc), each
 * for itself, and lets them work in turn, library i on communicators of its own with messages of
 * its own length. STORE is a folder in which there is a folder for each round and library. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef const char *(*user_fn)(int rank, int size, const char *store, uint32_t elements, int times);

int main(int argc, char **argv)
{
	user_fn users[8] = { NULL };
	char store[512];

	for (int i = 5; i < argc && i < 13; i++) {
		void *library = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);

		*(void **)&users[i - 5] = library ? dlsym(library, "gloo_user") : NULL;
		if (!users[i - 5]) {
			fprintf(stderr, "gloo_users: %s\n", dlerror());
			return 1;
		}
	}
	for (int round = 0; round < atoi(argv[4]); round++) {
		for (int i = 0; users[i]; i++) {
			snprintf(store, sizeof(store), "%s/%d.%d", argv[3], round, i);
			printf("round %d user %d: %s\n", round, i,
			       users[i](atoi(argv[1]), atoi(argv[2]), store,
					100 * (uint32_t)(i + 1), 5));
		}
	}
	return 0;
}
