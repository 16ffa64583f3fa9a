/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/watch/watch_event.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/render/hang.h"
#include "analyzer/render/html/html.h"
#include "analyzer/report/analyze.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/this_host.h"
#include "tools/commtrace/copy/bundle.h"
#include "tools/commtrace/stacks/attach.h"
#include "tools/commtrace/watch/reason.h"
#include "tools/commtrace/watch/timed_command.h"

static const char *const kinds[] = {
	[CT_WATCH_HANG] = "hang", [CT_WATCH_CRASH] = "crash", [CT_WATCH_RESOLVED] = "resolved"
};

struct acting {
	const struct ct_watch_event *event;
	char *sentence; /* the event in words */
	char *json;	/* for the command */
	char *text;	/* as `commtrace hang` has it */
	size_t text_bytes;
	char *stem;		    /* path of the verdict in the run, without extension */
	char *bundle;		    /* its path; NULL: not written */
	char *stacks, *stacks_json; /* of the ranks at fault, if it attaches; NULL: none */
	size_t stacks_bytes;
};

/* size: seconds. A file that is being written is younger: a bundle takes a minute at most, and
 * clocks of hosts differ */
#define PART_S 600

/* size: seconds for taking stacks: a job may be killed 2 s after its verdict */
#define ATTACH_LIMIT_S 2

/* ---- texts ---- */

static char *sentence_of(const struct ct_watch_event *event)
{
	const struct ct_hang_verdict *v = event->watcher->verdict;
	char *text = NULL;
	int n = v ? asprintf(&text, "%s: %s (confidence %s)", ct_hang_title(v), v->headline,
			     ct_confidence_name(v->confidence))
		  : asprintf(&text, "resolved: the ranks proceed");

	return n < 0 ? NULL : text;
}

static char *text_of(const struct ct_watcher *watcher, size_t *bytes)
{
	const struct ct_text_style style = {
		.paths = &watcher->dir, .n_paths = 1, .unwrapped = 1, .verbose = 1
	};
	char *text = NULL;
	FILE *out = open_memstream(&text, bytes);

	if (!out)
		return NULL;
	ct_hang_text(watcher->hang, &style, out);
	return fclose(out) == 0 ? text : NULL;
}

static json_t *hosts_of(const struct ct_watcher *watcher)
{
	const struct ct_hang_verdict *v = watcher->verdict;
	json_t *hosts = json_array();

	for (uint32_t i = 0; v && i < v->n_ranks; i++) {
		const struct ct_hang_rank *rank = ct_hang_rank_of(&watcher->hang->hang_case,
								  v->ranks[i]);
		json_t *host = rank && rank->host ? json_string(rank->host) : NULL;
		int listed = !host;

		for (size_t k = 0; !listed && k < json_array_size(hosts); k++)
			listed = json_equal(json_array_get(hosts, k), host);
		if (listed)
			json_decref(host);
		else
			json_array_append_new(hosts, host);
	}
	return hosts;
}

static char *json_of(const struct acting *a)
{
	const struct ct_watch_event *event = a->event;
	struct timespec now;
	json_t *value;
	char *text;

	clock_gettime(CLOCK_REALTIME, &now);
	value = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o}", "schema", "commtrace.event/1",
			  "event", kinds[event->kind], "text", a->sentence, "run",
			  event->watcher->dir, "at_unix_ns",
			  (json_int_t)now.tv_sec * 1000000000 + (json_int_t)now.tv_nsec, "hosts",
			  hosts_of(event->watcher), "hang", ct_hang_json(event->watcher->hang));
	text = value ? json_dumps(value, JSON_INDENT(1)) : NULL;
	json_decref(value);
	return text;
}

/* What was set when the job ran: the variables of communication, launchers and schedulers, and none
 * that may be a secret. */
static char *environment_text(void)
{
	static const char *const kept[] = {
		"COMMTRACE_", "NCCL_",	 "CUDA_",      "SLURM_", "TORCH_NCCL_", "OMPI_MCA_",
		"GLOO_",      "MASTER_", "WORLD_SIZE", "RANK",	 "LOCAL_",	"OMP_NUM_THREADS"
	};
	static const char *const secret[] = { "KEY", "TOKEN", "SECRET", "PASS", "JWT", "CRED" };
	struct utsname name;
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	if (uname(&name) == 0)
		fprintf(out, "%s %s %s %s\n", name.nodename, name.sysname, name.release,
			name.machine);
	for (char **e = environ; *e; e++) {
		const size_t n = strcspn(*e, "=");
		int wanted = 0, hidden = 0;

		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			wanted |= strncmp(*e, kept[i], strlen(kept[i])) == 0;
		for (size_t i = 0; i < sizeof(secret) / sizeof(secret[0]); i++)
			hidden |= memmem(*e, n, secret[i], strlen(secret[i])) != NULL;
		if (wanted && !hidden)
			fprintf(out, "%s\n", *e);
	}
	return fclose(out) == 0 ? text : NULL;
}

static void take_stacks(struct acting *a)
{
	const struct ct_watcher *w = a->event->watcher;
	json_t *stacks = ct_attach(w->run, w->hang, w->memory, ATTACH_LIMIT_S);
	FILE *out = stacks ? open_memstream(&a->stacks, &a->stacks_bytes) : NULL;

	if (out) {
		ct_attach_text(stacks, w->hang, w->memory, out);
		if (fclose(out) != 0)
			a->stacks_bytes = 0;
		a->stacks_json = json_dumps(stacks, JSON_INDENT(1));
	}
	json_decref(stacks);
}

/* ---- files ---- */

/* Writes the JSON into the run under a name that follows from the verdict. 1: done; 0: another
 * watcher has; -1: it cannot be written. */
static int claim(const struct acting *a)
{
	char *path = NULL, *part = NULL;
	int fd = -1, result = -1;

	if (asprintf(&path, "%s.json", a->stem) < 0 ||
	    asprintf(&part, "%s.json.part.%d.%d", a->stem, (int)getpid(), (int)gethostid()) < 0)
		goto out;
	fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd >= 0 && ct_reason_put(fd, a->json, strlen(a->json)) == 0 && fsync(fd) == 0)
		result = link(part, path) == 0 ? 1 : errno == EEXIST ? 0 : -1;
	if (result < 0)
		ct_warn("the verdict is not written: %s: %s", path, strerror(errno));
	if (fd >= 0)
		unlink(part);
out:
	if (fd >= 0)
		close(fd);
	free(path);
	free(part);
	return result;
}

/* When it came to a stop, in minutes; 0: not known. */
static unsigned long long minute_of(const struct ct_hang_verdict *v)
{
	return v->since_ns == CT_UNKNOWN ? 0 : v->since_ns / 60000000000ull;
}

/* Has another watcher written a verdict about its first rank, and this stop? Others may have
 * another code, and clocks differ. */
static int is_claimed(const struct ct_watcher *w)
{
	const unsigned long long mine = minute_of(w->verdict);
	DIR *dir = opendir(w->dir);
	const struct dirent *entry;
	int found = 0, restart, rank, end;
	unsigned long long at;

	while (dir && !found && (entry = readdir(dir))) {
		end = 0;
		found = sscanf(entry->d_name, "verdict-%d-%*[A-Z_]-%d-at-%llu.json%n", &restart,
			       &rank, &at, &end) == 3 &&
			end && !entry->d_name[end] && restart == w->hang->restart &&
			rank == w->verdict->ranks[0] && at <= mine + 1 && mine <= at + 1;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* verdict-RESTART-CODE-RANK, and the moment for what can happen twice. */
static char *stem_of(const struct ct_watch_event *event)
{
	const struct ct_watcher *w = event->watcher;
	char *stem;
	int n;

	if (w->verdict)
		n = asprintf(&stem, "%s/verdict-%d-%s-%d-at-%llu", w->dir, w->hang->restart,
			     ct_hang_code_name(w->verdict->code), w->verdict->ranks[0],
			     minute_of(w->verdict));
	else
		n = asprintf(&stem, "%s/resolved-%lld", w->dir, (long long)time(NULL));
	return n < 0 ? NULL : stem;
}

void ct_watch_clean(const char *dir)
{
	DIR *open = opendir(dir);
	const time_t now = time(NULL);
	const struct dirent *entry;
	struct stat st;

	while (open && (entry = readdir(open))) {
		if (strncmp(entry->d_name, "verdict-", strlen("verdict-")) == 0 &&
		    strstr(entry->d_name, ".part.") &&
		    fstatat(dirfd(open), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    S_ISREG(st.st_mode) && now - st.st_mtime > PART_S)
			unlinkat(dirfd(open), entry->d_name, 0);
	}
	if (open)
		closedir(open);
}

/* ---- the bundle ---- */

static char *report_html(const struct ct_watcher *watcher, size_t *bytes)
{
	struct ct_analyze_options options = CT_ANALYZE_DEFAULTS;
	struct ct_report *report = NULL;
	char *page = NULL;
	FILE *out = NULL;
	int st;

	options.boot_id = ct_host_boot_id();
	options.threads = 1;
	st = ct_analyze(watcher->run, &options, &report, NULL);
	if (st == CT_OK)
		out = open_memstream(&page, bytes);
	if (out) {
		st = ct_report_html(report, out);
		if (fclose(out) != 0 || st != CT_OK) {
			free(page);
			page = NULL;
		}
	}
	ct_report_free(report);
	return page;
}

static void write_bundle(struct acting *a, int with_report)
{
	char *environment = environment_text(), *path = NULL, *page = NULL;
	size_t page_bytes = 0;
	struct ct_err err = { .text = "" };

	if (with_report)
		page = report_html(a->event->watcher, &page_bytes);
	if ((page || !with_report) && asprintf(&path, "%s.tar", a->stem) >= 0) {
		const struct ct_bundle_text texts[] = {
			{ "verdict.json", a->json, strlen(a->json) },
			{ "verdict.txt", a->text, a->text_bytes },
			{ "stacks.txt", a->stacks, a->stacks_bytes },
			{ "stacks.json", a->stacks_json,
			  a->stacks_json ? strlen(a->stacks_json) : 0 },
			{ "environment.txt", environment, environment ? strlen(environment) : 0 },
			{ "report.html", page, page_bytes },
		};
		int st = ct_bundle_write(path, a->event->watcher->dir, a->event->watcher->run,
					 texts, sizeof(texts) / sizeof(texts[0]), &err);

		if (st != CT_OK)
			ct_warn("no evidence bundle: %s", err.text);
		else if (!a->bundle) {
			a->bundle = path;
			path = NULL;
			ct_say("evidence: %s", a->bundle);
		}
	}
	free(path);
	free(page);
	free(environment);
}

/* ---- all of it ---- */

static void start_command(const struct acting *a, struct ct_timed_command *command)
{
	const struct ct_timed_variable variables[] = {
		{ "COMMTRACE_RUN", a->event->watcher->dir },
		{ "COMMTRACE_EVENT", kinds[a->event->kind] },
		{ "COMMTRACE_BUNDLE", a->bundle ? a->bundle : "" },
		{ "COMMTRACE_TEXT", a->sentence },
	};

	if (a->event->command)
		ct_timed_command_start(command, a->event->command, a->json, variables,
				       sizeof(variables) / sizeof(variables[0]));
}

static void act(struct acting *a)
{
	const int resolved = a->event->kind == CT_WATCH_RESOLVED;
	struct ct_timed_command command = { .option = "--on-verdict" };

	if (a->event->attaches && a->event->kind == CT_WATCH_HANG)
		take_stacks(a);
	if (!resolved)
		write_bundle(a, 0);
	start_command(a, &command);
	if (a->bundle)
		write_bundle(a, 1);
	if (a->event->command)
		ct_timed_command_wait(&command, a->event->limit_s, a->event->stop);
}

int ct_watch_act(const struct ct_watch_event *event)
{
	struct acting a = { .event = event,
			    .sentence = sentence_of(event),
			    .stem = stem_of(event) };
	const int ours = event->anywhere || event->kind == CT_WATCH_RESOLVED ||
			 ct_watcher_is_ours(event->watcher);
	int acts = 0;

	/* it has; what there is to say was said when it was left to it */
	if (event->watcher->takes_over && (!ours || is_claimed(event->watcher)))
		goto out;
	a.text = text_of(event->watcher, &a.text_bytes);
	a.json = a.sentence ? json_of(&a) : NULL;
	if (!a.sentence || !a.stem || !a.json) {
		ct_warn("no verdict: %s", ct_status_text(CT_NOMEM));
	} else {
		if (ours && event->watcher->takes_over)
			ct_say("the host of the rank at fault has not acted: this one does");
		if (ours)
			ct_say("%s", a.sentence);
		if (ours && event->watcher->hang->ranks_seen < event->watcher->hang->ranks_expected)
			ct_say("this is known from %" PRIu32 " of %" PRIu32
			       " ranks: what the others do is unknown here",
			       event->watcher->hang->ranks_seen,
			       event->watcher->hang->ranks_expected);
		if (event->kind == CT_WATCH_RESOLVED)
			ct_reason_withdraw(event->termination_log);
		else
			ct_reason_write(a.sentence, a.text, event->termination_log);
		acts = ours && claim(&a) != 0;
		if (acts)
			act(&a);
		else if (ours)
			ct_say("another watcher acts on it: %s.json is there", a.stem);
	}
out:
	free(a.stacks);
	free(a.stacks_json);
	free(a.bundle);
	free(a.stem);
	free(a.text);
	free(a.json);
	free(a.sentence);
	return acts;
}

int ct_watch_put_line(const char *kind, const char *text, FILE *out)
{
	char at[32];
	time_t now = time(NULL);
	struct tm utc;

	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc));
	fprintf(out, "%s %s %s\n", at, kind, text);
	return fflush(out);
}

int ct_watch_line(const struct ct_watch_event *event, FILE *out)
{
	char *sentence = sentence_of(event);
	int failed = ct_watch_put_line(kinds[event->kind], sentence ? sentence : "", out);

	free(sentence);
	return failed;
}

int ct_watch_last_line(const struct ct_watcher *watcher, FILE *out)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *sentence = watcher->hang ? open_memstream(&text, &bytes) : NULL;
	int failed;

	if (sentence) {
		ct_hang_sentence(watcher->hang, sentence);
		fclose(sentence);
	}
	failed = ct_watch_put_line("ended", text ? text : "nothing was recorded", out);
	free(text);
	return failed;
}
