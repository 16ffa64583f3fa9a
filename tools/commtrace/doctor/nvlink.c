/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/doctor/nvlink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "analyzer/base/arena.h"
#include "tools/commtrace/doctor/doctor_trial.h"

#define MOST_GPUS 64 /* size: of a machine; 16 are seen */
#define SECONDS 20   /* size: nvidia-smi waits for the driver, which may have to be loaded */

struct gpu {
	const char *name; /* of the text, not terminated */
	size_t len;
	unsigned active, links;
};

/* "GPU 3: NVIDIA H100 80GB HBM3 (UUID: GPU-...)" */
static int is_gpu(const char *line, struct gpu *gpu)
{
	const char *colon = strchr(line, ':');

	if (strncmp(line, "GPU ", 4) != 0 || !colon)
		return 0;
	*gpu = (struct gpu){ .name = colon + 1, .len = strcspn(colon + 1, "(\n") };
	return 1;
}

/* "	 Link 0: 26.562 GB/s", "	 Link 1: <inactive>": active is what has a rate. */
static void add_link(const char *line, struct gpu *gpu)
{
	double rate;
	unsigned link;
	int end = 0;

	if (sscanf(line, " Link %u:%n", &link, &end) != 1 || !end)
		return;
	gpu->links++;
	gpu->active += sscanf(line + end, " %lf GB/s", &rate) == 1 && rate > 0;
}

static int is_alike(const struct gpu *a, const struct gpu *b)
{
	return a->len == b->len && strncmp(a->name, b->name, a->len) == 0;
}

void ct_nvlink_count(const char *status, struct ct_arena *memory, struct ct_report_topology *to)
{
	struct gpu gpus[MOST_GPUS];
	size_t n = 0;

	for (const char *line = status; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		if (n < MOST_GPUS && is_gpu(line, &gpus[n]))
			n++;
		else if (n)
			add_link(line, &gpus[n - 1]);
	}
	for (size_t i = 0; i < n; i++) {
		unsigned most = 0;
		const char **text;

		for (size_t k = 0; k < n; k++)
			if (is_alike(&gpus[i], &gpus[k]) && gpus[k].active > most)
				most = gpus[k].active;
		if (!most)
			continue;
		to->known++;
		to->wrong += gpus[i].active < most;
		text = gpus[i].active < most ? &to->first : &to->right;
		if (!*text)
			*text = ct_arena_printf(memory, "GPU %zu: %u of %u links are active", i,
						gpus[i].active, most);
	}
}

void ct_nvlink_read(struct ct_arena *memory, struct ct_report_topology *to)
{
	static const char *const argv[] = { "nvidia-smi", "nvlink", "--status", NULL };
	struct ct_trial trial = { .argv = argv, .seconds = SECONDS };

	if (ct_trial(&trial) != 0)
		return;
	if (!trial.is_late && WIFEXITED(trial.status) && WEXITSTATUS(trial.status) == 0)
		ct_nvlink_count(trial.said, memory, to);
	free(trial.said);
}
