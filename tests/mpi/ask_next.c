/* SPDX-License-Identifier: Apache-2.0 */
/* ask_next.c — a preload that asks for functions as those do that wrap them: from its constructor
 * it writes into $ASK_NEXT_LOG, one line a question, in which file the answer lies, or "nowhere". */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void ask(FILE *log, const char *how, void *scope, const char *symbol)
{
	Dl_info info = { .dli_fname = "?" };
	const char *file;
	void *answer;

	dlerror();
	answer = dlsym(scope, symbol);
	if (!answer) {
		fprintf(log, "%s %s nowhere%s\n", how, symbol,
			dlerror() ? "" : ", and no reason is told");
		return;
	}
	dladdr(answer, &info);
	file = strrchr(info.dli_fname, '/');
	fprintf(log, "%s %s %s\n", how, symbol, file ? file + 1 : info.dli_fname);
}

static __attribute__((constructor)) void ask_all(void)
{
	static const char *const symbols[] = { "MPI_Allreduce", "PMPI_Allreduce", "MPI_Finalize",
					       "ncclAllReduce", "malloc" };
	const char *path = getenv("ASK_NEXT_LOG");
	FILE *log = path ? fopen(path, "wx") : NULL; /* children, too, come by */

	for (size_t i = 0; log && i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		ask(log, "next", RTLD_NEXT, symbols[i]);
		ask(log, "default", RTLD_DEFAULT, symbols[i]);
	}
	if (log)
		fclose(log);
}
