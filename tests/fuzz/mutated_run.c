/* SPDX-License-Identifier: Apache-2.0 */
/* mutated_run.c — whole runs with wrong contents and right checksums (mutate.h), through everything
 * that reads a run: report, info, dump, timeline and hang. Each in a process of its own, which has
 * 60 s; under a sanitizer of addresses or of undefined behaviour what it finds ends that process.
 *
 *     mutated_run FIRST N [--keep DIR] [RUN...]: seeds FIRST .. FIRST + N - 1, of runs that are
 * given, or made here. The mutated run of the last seed stays in DIR. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/render/hang.h"
#include "analyzer/render/perfetto.h"
#include "analyzer/render/render.h"
#include "analyzer/report/analyze.h"
#include "tests/fuzz/mutate.h"
#include "tools/synth/synth.h"
#include "trace/reader.h"

#define SECONDS 60
#define MOST_RUNS 16

static char directory[256];

/* ---- runs to start from ---- */

static int make_run(const char *path, const char *workload, int number)
{
	static const char *const faults[] = { "missing:rank=2,op=9",
					      "mismatch:rank=1,field=count,op=9",
					      "kill:rank=1,op=7", NULL,
					      "block-stream:rank=3,op=5" };
	struct ct_synth_options o = ct_synth_defaults();
	struct ct_synth_outcome outcome = { 0 };
	struct ct_err err = { 0 };
	char why[128];
	int dirfd, st;

	o.job.name = workload;
	o.job.ranks = 4 + 4 * (number % 2);
	o.job.nodes = 2;
	o.job.steps = 4 + number;
	o.job.seed = (unsigned)number;
	o.timing = (enum ct_synth_timing)(number % 3);
	o.per_process = 1 + (number == 3);
	o.offset_ms = 20;
	o.drift_ppm = 20;
	if (faults[number] &&
	    ct_fault_parse(faults[number], &o.faults[o.job.n_faults++], why, sizeof(why)))
		return -1;
	if (mkdir(path, 0700))
		return -1;
	dirfd = open(path, O_RDONLY | O_DIRECTORY);
	st = dirfd < 0 ? -1 : ct_synth_write(&o, dirfd, &outcome, &err);
	if (st)
		fprintf(stderr, "%s: %s\n", workload, err.text);
	ct_synth_outcome_free(&outcome);
	close(dirfd);
	return st;
}

static size_t make_runs(char (*runs)[320])
{
	static const char *const workloads[] = { "ddp", "megatron", "moe", "fsdp", "decode" };
	size_t n = sizeof(workloads) / sizeof(workloads[0]);

	for (size_t i = 0; i < n; i++) {
		snprintf(runs[i], sizeof(runs[i]), "%s/%s", directory, workloads[i]);
		if (make_run(runs[i], workloads[i], (int)i))
			return 0;
	}
	return n;
}

/* ---- one run ---- */

static int on_op(const struct ct_joined_op *op, void *arg)
{
	*(uint64_t *)arg += op->op->seq;
	return 0;
}

static void render(const struct ct_report *report, FILE *out)
{
	json_t *json = ct_report_json(report);

	ct_report_text(report, NULL, out);
	ct_info_text(report, NULL, out);
	if (json)
		json_dumpf(json, out, JSON_INDENT(1));
	json_decref(json);
	json = ct_info_json(report);
	json_decref(json);
}

static void draw_timeline(struct ct_timeline *timeline, FILE *out)
{
	struct ct_perfetto *perfetto = ct_perfetto_new(out, 0, 1);
	struct ct_timeline_result result;
	struct ct_timeline_sink sink;
	struct ct_err err;

	if (!perfetto)
		return;
	sink = ct_perfetto_sink(perfetto);
	ct_timeline_draw(timeline, &sink, &result, &err);
	ct_perfetto_free(perfetto);
}

/* Whole, and as an overview. */
static void draw(const struct ct_run *run, FILE *out)
{
	struct ct_timeline_options options = { .restart = -1,
					       .to_ns = UINT64_MAX,
					       .max_slices = 100000,
					       .flows = CT_FLOWS_BLAME,
					       .color = CT_COLOR_BY_INSTANCE };

	for (int split = 0; split < 2; split++) {
		struct ct_timeline_result result;
		struct ct_timeline *timeline;
		struct ct_err err;

		if (ct_timeline_open(run, &options, &timeline, &result, &err) == CT_OK)
			draw_timeline(timeline, out);
		ct_timeline_close(timeline);
		options.max_slices = 300;
	}
}

static void judge(const struct ct_run *run, FILE *out)
{
	const struct ct_hang_options options = { .restart = -1, .whole = 1 };
	const struct ct_text_style plain = { .unwrapped = 1 };
	struct ct_arena *memory = ct_arena_new();
	struct ct_hang_run *hang;
	struct ct_err err;

	if (memory && ct_hang_of_run(run, &options, memory, &hang, &err) == CT_OK) {
		json_t *json = ct_hang_json(hang);

		ct_hang_text(hang, &plain, out);
		json_decref(json);
	}
	ct_arena_free(memory);
}

/* Whatever it is worth: nothing here may crash. */
static void read_it(const char *path)
{
	const struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	const struct ct_text_style plain = { .unwrapped = 1 };
	struct ct_report *report = NULL, *outline = NULL;
	struct ct_run *run = NULL;
	FILE *out = fopen("/dev/null", "w");
	struct ct_err err;
	uint64_t sum = 0;

	if (!out || ct_run_open(&path, 1, NULL, &run, &err) != CT_OK)
		exit(0);
	if (ct_analyze(run, NULL, &report, &err) == CT_OK)
		render(report, out);
	ct_report_free(report);
	if (ct_outline(run, &options, &outline, &err) == CT_OK) {
		json_decref(ct_info_json(outline));
		ct_info_text(outline, &plain, out);
	}
	ct_report_free(outline);
	ct_ops_each(run, on_op, &sum, &err);
	ct_calls_each(run, on_op, &sum, &err);
	draw(run, out);
	judge(run, out);
	ct_run_close(run);
	fclose(out);
	exit(0);
}

/* Every file of `from`, mutated, in `to`. */
static int mutate(const char *from, const char *to, uint64_t seed)
{
	DIR *dir = opendir(from);
	const struct dirent *entry;
	uint64_t random = seed;
	int st = dir ? 0 : -1;

	mkdir(to, 0700);
	while (st == 0 && (entry = readdir(dir))) {
		char path[640];
		FILE *out;

		if (!strstr(entry->d_name, ".seg"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", to, entry->d_name);
		out = fopen(path, "w");
		if (!out) {
			st = -1;
			break;
		}
		snprintf(path, sizeof(path), "%s/%s", from, entry->d_name);
		/* some as they are, so that there is something to match with */
		st = ct_mutate_segment(path, &random, out);
		st = fclose(out) ? -1 : st;
	}
	if (dir)
		closedir(dir);
	return st;
}

static void empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(path);
}

static int survives(const char *path, uint64_t seed, const char *from)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		alarm(SECONDS);
		read_it(path);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 0;
	if (status == 0)
		return 1;
	fprintf(stderr, "seed %llu of %s: %s %d\n", (unsigned long long)seed, from,
		WIFSIGNALED(status) ? "signal" : "exit",
		WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	return 0;
}

int main(int argc, char **argv)
{
	char runs[MOST_RUNS][320], mutated[320];
	const char *tmp = getenv("TMPDIR"), *keep = NULL;
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
	size_t n_runs = 0, made = 0;
	int failed = 0;

	for (int i = 3; i < argc && n_runs < MOST_RUNS; i++) {
		if (strcmp(argv[i], "--keep") == 0 && i + 1 < argc)
			keep = argv[++i];
		else
			snprintf(runs[n_runs++], sizeof(runs[0]), "%s", argv[i]);
	}
	snprintf(directory, sizeof(directory), "%s/mutated.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(directory))
		return 2;
	if (!n_runs)
		n_runs = made = make_runs(runs);
	snprintf(mutated, sizeof(mutated), "%s", keep ? keep : "");
	if (!keep)
		snprintf(mutated, sizeof(mutated), "%s/run", directory);
	for (uint64_t seed = first; seed < first + n && n_runs; seed++) {
		const char *from = runs[seed % n_runs];

		empty(mutated);
		if (mutate(from, mutated, seed) || !survives(mutated, seed, from))
			failed++;
	}
	printf("%llu runs, %d failed\n", (unsigned long long)n, failed);
	if (!keep)
		empty(mutated);
	for (size_t i = 0; i < made; i++)
		empty(runs[i]);
	rmdir(directory);
	return n_runs && !failed ? 0 : 1;
}
