/* SPDX-License-Identifier: Apache-2.0 */
/* gloo_parts [works:|deepbind:]LIBRARY...: opens libraries that have Gloo linked in (gloo_part.c),
 * each for itself, and lets each of them make ten collectives; with works: as torch's c10d does it.
 * Prints how many each copy has carried out. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "tests/interpose/fake_c10d.h"

enum { TIMES = 10 };

static int (*train)(int times);

static void carry_out(struct fake_work *work)
{
	train(work->number);
}

static void train_by_works(void)
{
	struct fake_work work = { .run = carry_out, .number = TIMES }, *at = &work;

	c10d_enqueue(NULL, &at);
	c10d_execute(&at);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int works = strncmp(argv[i], "works:", 6) == 0;
		int deepbind = strncmp(argv[i], "deepbind:", 9) == 0;
		const char *path = argv[i] + (works ? 6 : deepbind ? 9 : 0);
		void *library = dlopen(path,
				       RTLD_NOW | RTLD_LOCAL | (deepbind ? RTLD_DEEPBIND : 0));
		int (*sends)(void);

		if (!library) {
			fprintf(stderr, "gloo_parts: %s\n", dlerror());
			return 1;
		}
		*(void **)&train = dlsym(library, "part_train");
		*(void **)&sends = dlsym(library, "part_sends");
		if (works)
			train_by_works();
		else
			train(TIMES);
		printf("%s: %d calls, %d sends\n", strrchr(path, '/') + 1, train(0), sends());
	}
	return 0;
}
