/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — commtrace-metrics: figures of the running jobs of this machine, for Prometheus. Options,
 * then a loop of looks; another thread serves what the latest look gave. Reading is all that it
 * does to a job. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tools/commtrace/base/codes.h"
#include "tools/commtrace/base/say.h"
#include "tools/commtrace/base/signals.h"
#include "tools/metrics/http.h"
#include "tools/metrics/runs.h"
#include "tools/metrics/textfile.h"

#define TOKEN_MOST 4096u
#define SECOND 1000000000ull

struct metrics_options {
	const char *listen, *textfile, *token_file, *nvml;
	double interval_s, peak_GBps;
	int once, no_gpus;
	char *token;
};

static const char help[] =
	"Usage: commtrace-metrics [OPTION]... [RUN]...\n"
	"Serve figures of running jobs for Prometheus, from the files and rings of this machine.\n"
	"\n"
	"RUN is the directory of a recording. Without RUN, all jobs of this user that are "
	"recorded\n"
	"on this machine are found by their rings, as they come and go.\n"
	"\n"
	"      --listen=ADDRESS:PORT  Where to serve /metrics (default: 127.0.0.1:9400). Port 0: "
	"any.\n"
	"                             Addresses other than loopback need --token-file\n"
	"      --token-file=FILE      Clients must present this bearer token\n"
	"      --textfile=FILE        Write the figures to FILE, for node_exporter; nothing is "
	"served\n"
	"                             unless --listen is given, too\n"
	"      --interval=SECONDS     Time between two looks at the jobs (default: 2)\n"
	"      --peak-gbps=N          Bus bandwidth that the machines can reach, in GB/s (10^9 "
	"bytes)\n"
	"      --once                 Print the figures of now, and end\n"
	"      --no-gpus              Do not ask NVML about GPUs\n"
	"      --nvml=FILE            Library to ask (default: libnvidia-ml.so.1)\n"
	"  -h, --help                 Show this help\n"
	"  -V, --version              Print the version\n";

static int usage(const char *what, const char *value)
{
	ct_say("%s '%s'", what, value);
	ct_hint("'commtrace-metrics --help' shows the options");
	return CT_CODE_USAGE;
}

static int number(const char *text, double least, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return *text && !*end && *value >= least && *value <= 1e9;
}

/* -1 to go on, or the exit status. */
static int parse(struct metrics_options *r, int argc, char **argv)
{
	enum { LISTEN = 256, TOKEN, TEXTFILE, INTERVAL, PEAK, ONCE, NO_GPUS, NVML };
	static const struct option options[] = {
		{ "listen", required_argument, NULL, LISTEN },
		{ "token-file", required_argument, NULL, TOKEN },
		{ "textfile", required_argument, NULL, TEXTFILE },
		{ "interval", required_argument, NULL, INTERVAL },
		{ "peak-gbps", required_argument, NULL, PEAK },
		{ "once", no_argument, NULL, ONCE },
		{ "no-gpus", no_argument, NULL, NO_GPUS },
		{ "nvml", required_argument, NULL, NVML },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ 0 },
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (c) {
		case LISTEN:
			r->listen = optarg;
			break;
		case TOKEN:
			r->token_file = optarg;
			break;
		case TEXTFILE:
			r->textfile = optarg;
			break;
		case INTERVAL:
			if (!number(optarg, 0.1, &r->interval_s))
				return usage("--interval is no number of seconds:", optarg);
			break;
		case PEAK:
			if (!number(optarg, 1e-9, &r->peak_GBps))
				return usage("--peak-gbps is no bandwidth:", optarg);
			break;
		case ONCE:
			r->once = 1;
			break;
		case NO_GPUS:
			r->no_gpus = 1;
			break;
		case NVML:
			r->nvml = optarg;
			break;
		case 'h':
			fputs(help, stdout);
			return fflush(stdout) ? CT_CODE_FAILED : CT_CODE_DONE;
		case 'V':
			printf("commtrace-metrics %s\n", CT_RELEASE);
			return fflush(stdout) ? CT_CODE_FAILED : CT_CODE_DONE;
		default:
			return usage("unknown option, or its value is missing:", argv[optind - 1]);
		}
	}
	if (!r->listen && !r->textfile)
		r->listen = "127.0.0.1:9400";
	return -1;
}

/* The first line of the file. Others must not be able to read it. */
static int read_token(struct metrics_options *r)
{
	char text[TOKEN_MOST + 1];
	struct stat st;
	ssize_t n;
	int fd = open(r->token_file, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0 || (n = read(fd, text, TOKEN_MOST)) < 0) {
		ct_say("cannot read the token: %s: %s", r->token_file, strerror(errno));
		if (fd >= 0)
			close(fd);
		return CT_CODE_FAILED;
	}
	close(fd);
	text[n] = '\0';
	text[strcspn(text, "\r\n")] = '\0';
	if (!text[0]) {
		ct_say("cannot read the token: %s is empty", r->token_file);
		return CT_CODE_FAILED;
	}
	if (st.st_mode & (S_IROTH | S_IWOTH))
		ct_warn("every user can read the token in %s", r->token_file);
	r->token = strdup(text);
	return r->token ? 0 : CT_CODE_FAILED;
}

static int start_http(const struct metrics_options *r, struct ct_http **http)
{
	struct ct_err err = { .text = "" };
	int st = ct_http_start(r->listen, r->token, http, &err);

	if (st == CT_OK) {
		fprintf(stderr, "serving /metrics on %s\n", ct_http_address(*http));
		return 0;
	}
	ct_say("cannot serve on %s: %s", r->listen, err.text);
	if (st == CT_RANGE)
		ct_hint("--token-file FILE names a file with a secret that clients present");
	return st == CT_IO || st == CT_NOMEM ? CT_CODE_FAILED : CT_CODE_USAGE;
}

/* The text of now; NULL: out of memory. */
static char *write_text(const struct ct_exposed_all *all, size_t *len)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, len);

	if (!out)
		return NULL;
	ct_exposition_write(all, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

static int put(const struct metrics_options *r, struct ct_http *http,
	       const struct ct_exposed_all *all)
{
	struct ct_err err = { .text = "" };
	size_t len;
	char *text = write_text(all, &len);
	int code = 0;

	if (!text) {
		ct_warn("no figures this time: out of memory");
		return 0;
	}
	if (r->once)
		code = fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0 ? 0
										  : CT_CODE_FAILED;
	else if (r->textfile && ct_textfile_write(r->textfile, text, len, &err) != CT_OK)
		ct_warn("cannot write the figures: %s", err.text);
	if (http)
		ct_http_publish(http, text, len);
	else
		free(text);
	return code;
}

static void nap(double seconds)
{
	const struct timespec t = { .tv_sec = (time_t)seconds,
				    .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9) };

	nanosleep(&t, NULL);
}

static int watch(const struct metrics_options *r, struct ct_runs *runs, struct ct_http *http)
{
	static struct ct_exposed_run exposed[CT_RUNS];
	static struct ct_gpu_sample gpus[CT_GPUS];

	while (!ct_signals_deferred()) {
		struct ct_exposed_all all = { .gpus = gpus };

		ct_runs_look(runs, exposed, &all);
		all.n_gpus = ct_nvml_read(gpus);
		if (all.is_behind && r->once)
			continue;
		if (put(r, http, &all) != 0)
			return CT_CODE_FAILED;
		if (r->once)
			return CT_CODE_DONE;
		if (!all.is_behind)
			nap(r->interval_s);
	}
	return CT_CODE_DONE;
}

int main(int argc, char **argv)
{
	struct metrics_options request = { .interval_s = 2 };
	struct ct_runs runs = { 0 };
	struct ct_http *http = NULL;
	int code;

	ct_signals_begin();
	code = parse(&request, argc, argv);
	if (code >= 0)
		return code;
	runs.named = (const char *const *)argv + optind;
	runs.n_named = (size_t)(argc - optind);
	runs.peak_Bps = request.peak_GBps * 1e9;
	code = request.token_file ? read_token(&request) : 0;
	ct_signals_defer();
	/* A tenth of the job's weight, where there are more threads than cores. */
	setpriority(PRIO_PROCESS, 0, 10);
	if (!code && request.listen && !request.once)
		code = start_http(&request, &http);
	if (!code && !request.no_gpus)
		ct_nvml_start(request.nvml);
	if (!code)
		code = watch(&request, &runs, http);
	ct_http_stop(http);
	ct_runs_close(&runs);
	free(request.token);
	return code;
}
