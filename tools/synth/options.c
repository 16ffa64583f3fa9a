/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/options.h"

#include <argp.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/path.h"

#define USAGE 2

enum synth_option {
	KEY_TRUTH = 256,
	KEY_SCENARIO,
	KEY_SEED,
	KEY_HOSTS,
	KEY_GPUS,
	KEY_PER_PROCESS,
	KEY_STEPS,
	KEY_WORKLOAD,
	KEY_TP,
	KEY_PP,
	KEY_DP,
	KEY_STEP_MS,
	KEY_OFFSET,
	KEY_DRIFT,
	KEY_WANDER,
	KEY_JITTER,
	KEY_SKEW,
	KEY_SKEW_FIXED,
	KEY_NOISE,
	KEY_SPREAD,
	KEY_HICCUP,
	KEY_TIMING,
	KEY_FAULT,
	KEY_MISMATCH,
	KEY_ON_DEATH,
	KEY_GIVE_UP,
	KEY_SEGMENT,
};

static const struct argp_option table[] = {
	{ 0, 0, 0, 0, "The job:", 1 },
	{ "hosts", KEY_HOSTS, "H", 0, "Hosts (1)", 1 },
	{ "gpus-per-host", KEY_GPUS, "G", 0, "Ranks on each, one GPU each (8)", 1 },
	{ "ranks-per-process", KEY_PER_PROCESS, "K", 0, "Ranks that a process holds (1)", 1 },
	{ "workload", KEY_WORKLOAD, "W", 0, "What they do (ddp)", 1 },
	{ "steps", KEY_STEPS, "C", 0, "How often (50)", 1 },
	{ "step-ms", KEY_STEP_MS, "X", 0, "What a rank computes in a step (25)", 1 },
	{ "tp", KEY_TP, "N", 0, "Ranks of a tensor group (megatron, decode)", 1 },
	{ "pp", KEY_PP, "N", 0, "Stages of a pipeline (megatron)", 1 },
	{ "dp", KEY_DP, "N", 0, "Copies of the model (megatron, moe, decode)", 1 },
	{ "seed", KEY_SEED, "N", 0, "What is random follows from it (1)", 1 },
	{ 0, 0, 0, 0, "Clocks, and how well things are measured:", 2 },
	{ "clock-offset-ms", KEY_OFFSET, "X", 0,
	  "Hosts' real time is off by up to so much, either way (0)", 2 },
	{ "clock-drift-ppm", KEY_DRIFT, "X", 0,
	  "Hosts' clocks run fast or slow by up to so much (0)", 2 },
	{ "clock-wander-ppb", KEY_WANDER, "X", 0,
	  "and change that by a deviation of so much every second (0)", 2 },
	{ "event-jitter-us", KEY_JITTER, "X", 0,
	  "Times of events come late by up to a tenth of this to all of it, by rank (2)", 2 },
	{ "timing", KEY_TIMING, "events|host|plugin|off", 0, "As COMMTRACE_TIMING (events)", 2 },
	{ 0, 0, 0, 0, "What is not as it should be:", 3 },
	{ "noise-pct", KEY_NOISE, "X", 0,
	  "Deviation of each kernel's length, beside the 1 % that it has anyway (0)", 3 },
	{ "spread-pct", KEY_SPREAD, "X", 0,
	  "Ranks are faster or slower by up to so much, all the time (0)", 3 },
	{ "hiccup", KEY_HICCUP, "RATE:MS", 0,
	  "So often per rank and step a kernel takes longer, by MS on average (0)", 3 },
	{ "end-skew-us", KEY_SKEW, "X", 0, "Ranks end an operation up to so much apart (3)", 3 },
	{ "end-skew-fixed-us", KEY_SKEW_FIXED, "X", 0, "and each always later by up to so much (0)",
	  3 },
	{ "fault", KEY_FAULT, "KIND:key=value,...", 0, "Repeatable; see below", 3 },
	{ "on-mismatch", KEY_MISMATCH, "hang|go-on", 0,
	  "Calls that contradict each other never end, or end like others (hang)", 3 },
	{ "on-death", KEY_ON_DEATH, "kill|wait", 0,
	  "When a process dies, end the others soon, or let them hang (kill)", 3 },
	{ "give-up", KEY_GIVE_UP, "SECONDS", 0, "Kill a job that hangs after so long (60)", 3 },
	{ 0, 0, 0, 0, "Files:", 4 },
	{ "output", 'o', "RUN", 0, "Directory to make", 4 },
	{ "segment-kb", KEY_SEGMENT, "N", 0,
	  "As COMMTRACE_SEGMENT_BYTES, at a heartbeat (one segment)", 4 },
	{ "truth", KEY_TRUTH, "FILE", 0, "Where the truth goes (RUN.truth.json)", 4 },
	{ "scenario", KEY_SCENARIO, "FILE.json", 0,
	  "An object with options as keys; \"fault\" is an array. What comes later counts", 4 },
	{ 0 }
};

struct parse {
	struct ct_synth_command *command;
	int hosts, gpus;
};

static uint64_t whole(struct argp_state *state, const char *name, const char *arg, uint64_t least,
		      uint64_t most)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(arg, &end, 10);
	if (errno || end == arg || *end || arg[0] == '-' || number < least || number > most)
		argp_error(state, "--%s: '%s' is not a whole number from %llu to %llu", name, arg,
			   (unsigned long long)least, (unsigned long long)most);
	return number;
}

static double real(struct argp_state *state, const char *name, const char *arg, double most)
{
	char *end;
	double number = strtod(arg, &end);

	if (end == arg || *end || !isfinite(number) || number < 0 || number > most)
		argp_error(state, "--%s: '%s' is not a number from 0 to %g", name, arg, most);
	return number;
}

static int one_of(struct argp_state *state, const char *name, const char *arg, const char *yes,
		  const char *no)
{
	if (strcmp(arg, yes) && strcmp(arg, no))
		argp_error(state, "--%s: '%s' is neither %s nor %s", name, arg, yes, no);
	return strcmp(arg, yes) == 0;
}

static void set_timing(struct argp_state *state, struct ct_synth_options *o, const char *arg)
{
	const char *name;

	for (unsigned i = 0; (name = ct_synth_timing_name(i)); i++) {
		if (strcmp(name, arg) == 0) {
			o->timing = (enum ct_synth_timing)i;
			return;
		}
	}
	argp_error(state, "--timing: '%s' is neither events, host, plugin nor off", arg);
}

static void set_hiccup(struct argp_state *state, struct ct_synth_options *o, const char *arg)
{
	char copy[64], *colon;

	snprintf(copy, sizeof(copy), "%s", arg);
	colon = strchr(copy, ':');
	if (!colon) {
		argp_error(state, "--hiccup: '%s' is not RATE:MS", arg);
		return;
	}
	*colon = '\0';
	o->world.hiccup_rate = real(state, "hiccup", copy, 1);
	o->world.hiccup_ms = real(state, "hiccup", colon + 1, 1e6);
}

static void add_fault(struct argp_state *state, struct ct_synth_options *o, const char *arg)
{
	struct ct_fault *fault = &o->faults[o->job.n_faults];
	char why[512];

	if (o->job.n_faults == CT_SYNTH_FAULTS) {
		argp_error(state, "more than %d faults", CT_SYNTH_FAULTS);
		return;
	}
	if (ct_fault_parse(arg, fault, why, sizeof(why)))
		argp_error(state, "%s", why);
	if (ct_fault_where(fault->kind) == CT_FAULT_IN_JOBS ||
	    fault->kind == CT_FAULT_ABORT_COMPLETES)
		argp_error(state, "fault %s is for a job that runs, not for a trace",
			   ct_fault_name(fault->kind));
	o->job.n_faults++;
}

static error_t parse_option(int key, char *arg, struct argp_state *state);

/* One key of a scenario, as the option of that name. */
static void take_named(struct argp_state *state, const char *file, const char *name,
		       const json_t *value)
{
	struct ct_synth_command *command = ((struct parse *)state->input)->command;
	const struct argp_option *option = table;
	json_t *text = NULL;
	char *number;

	while ((option->name || option->doc) && !(option->name && strcmp(option->name, name) == 0))
		option++;
	if (!option->name || option->key == KEY_SCENARIO)
		argp_error(state, "%s: there is no option '%s'", file, name);
	if (json_is_number(value)) {
		number = json_dumps(value, JSON_ENCODE_ANY);
		text = json_string(number);
		free(number);
	} else if (json_is_string(value)) {
		text = json_string(json_string_value(value));
	}
	if (!text) {
		argp_error(state, "%s: '%s' is neither a number nor a string", file, name);
		return;
	}
	json_array_append_new(command->texts, text);
	parse_option(option->key, (char *)(uintptr_t)json_string_value(text), state);
}

static void take_scenario(struct argp_state *state, const char *file)
{
	json_error_t error;
	json_t *scenario = json_load_file(file, JSON_REJECT_DUPLICATES, &error), *value;
	const char *name;

	if (!scenario)
		argp_error(state, "%s: line %d: %s", file, error.line, error.text);
	if (!json_is_object(scenario))
		argp_error(state, "%s: not an object", file);
	json_object_foreach(scenario, name, value)
	{
		if (!json_is_array(value))
			take_named(state, file, name, value);
		for (size_t i = 0; i < json_array_size(value); i++)
			take_named(state, file, name, json_array_get(value, i));
	}
	json_decref(scenario);
}

static void finish(struct argp_state *state, struct parse *parse)
{
	struct ct_synth_command *command = parse->command;
	struct ct_synth_options *o = &command->options;

	if (!command->run)
		argp_error(state, "where to? -o RUN is missing");
	if ((int64_t)parse->hosts * parse->gpus > 65536)
		argp_error(state, "%d hosts of %d ranks are more than 65536 ranks", parse->hosts,
			   parse->gpus);
	if (parse->gpus % o->per_process)
		argp_error(state, "%d ranks of a host are not processes of %d ranks", parse->gpus,
			   o->per_process);
	o->job.ranks = parse->hosts * parse->gpus;
	o->job.nodes = parse->hosts;
	if (!command->truth && asprintf(&command->truth, "%.*s.truth.json",
					(int)ct_path_len(command->run), command->run) < 0)
		argp_failure(state, 1, 0, "no memory");
}

static error_t take_job(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct ct_synth_options *o = &parse->command->options;

	switch (key) {
	case KEY_SEED:
		o->job.seed = whole(state, "seed", arg, 0, UINT64_MAX);
		return 0;
	case KEY_HOSTS:
		parse->hosts = (int)whole(state, "hosts", arg, 1, 65536);
		return 0;
	case KEY_GPUS:
		parse->gpus = (int)whole(state, "gpus-per-host", arg, 1, 65536);
		return 0;
	case KEY_PER_PROCESS:
		o->per_process = (int)whole(state, "ranks-per-process", arg, 1, 64);
		return 0;
	case KEY_STEPS:
		o->job.steps = whole(state, "steps", arg, 1, 100000000);
		return 0;
	case KEY_WORKLOAD:
		o->job.name = arg;
		return 0;
	case KEY_TP:
		o->job.tp = (int)whole(state, "tp", arg, 1, 65536);
		return 0;
	case KEY_PP:
		o->job.pp = (int)whole(state, "pp", arg, 1, 65536);
		return 0;
	case KEY_DP:
		o->job.dp = (int)whole(state, "dp", arg, 1, 65536);
		return 0;
	case KEY_STEP_MS:
		o->job.step_ns = (uint64_t)(1e6 * real(state, "step-ms", arg, 1e6)) + 1;
		return 0;
	case KEY_FAULT:
		add_fault(state, o, arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t take_world(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct ct_synth_options *o = &parse->command->options;

	switch (key) {
	case KEY_OFFSET:
		o->offset_ms = real(state, "clock-offset-ms", arg, 1e6);
		return 0;
	case KEY_DRIFT:
		o->drift_ppm = real(state, "clock-drift-ppm", arg, 1e4);
		return 0;
	case KEY_WANDER:
		o->wander_ppb = real(state, "clock-wander-ppb", arg, 1e5);
		return 0;
	case KEY_JITTER:
		o->jitter_us = real(state, "event-jitter-us", arg, 1e5);
		return 0;
	case KEY_SKEW:
		o->world.end_skew_us = real(state, "end-skew-us", arg, 1e6);
		return 0;
	case KEY_SKEW_FIXED:
		o->world.end_skew_fixed_us = real(state, "end-skew-fixed-us", arg, 1e6);
		return 0;
	case KEY_NOISE:
		o->world.noise_pct = real(state, "noise-pct", arg, 100);
		return 0;
	case KEY_SPREAD:
		o->world.spread_pct = real(state, "spread-pct", arg, 90);
		return 0;
	case KEY_HICCUP:
		set_hiccup(state, o, arg);
		return 0;
	case KEY_TIMING:
		set_timing(state, o, arg);
		return 0;
	case KEY_MISMATCH:
		o->world.mismatch_goes_on = one_of(state, "on-mismatch", arg, "go-on", "hang");
		return 0;
	case KEY_ON_DEATH:
		o->world.death_to_kill_s = one_of(state, "on-death", arg, "kill", "wait") ? 1.5
											  : -1;
		return 0;
	case KEY_SEGMENT:
		o->segment_bytes = 1000 * whole(state, "segment-kb", arg, 1, 1000000000);
		return 0;
	case KEY_GIVE_UP:
		o->give_up_s = real(state, "give-up", arg, 1e6);
		return 0;
	default:
		return take_job(key, arg, state);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	switch (key) {
	case 'o':
		parse->command->run = arg;
		return 0;
	case KEY_TRUTH:
		free(parse->command->truth);
		parse->command->truth = strdup(arg);
		return 0;
	case KEY_SCENARIO:
		take_scenario(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'?", arg);
		return 0;
	case ARGP_KEY_END:
		finish(state, parse);
		return 0;
	default:
		return take_world(key, arg, state);
	}
}

/* The text below the options in --help. */
static char *help_filter(int key, const char *text, void *input)
{
	size_t size = 0;
	char *all = NULL, spelling[256];
	const char *name, *what;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&all, &size);
	if (!out)
		return NULL;
	fprintf(out, "Workloads:\n");
	for (unsigned i = 0; (what = ct_workload_help(i, &name)); i++)
		fprintf(out, "  %-20s  %s\n", name, what);
	fprintf(out, "\nFaults (op: data-moving op of the rank, from 0; from, to: steps):\n");
	for (unsigned i = 0; (what = ct_fault_help(i, spelling, sizeof(spelling))); i++) {
		if (ct_fault_where(i) != CT_FAULT_IN_JOBS && i != CT_FAULT_ABORT_COMPLETES)
			fprintf(out, "  %s\n      %s\n", spelling, what);
	}
	fprintf(out, "\nExit status: 0 done, 1 failed, 2 usage.\n");
	fclose(out);
	return all;
}

void ct_synth_command(struct ct_synth_command *command, int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = parse_option,
		.doc = "Write a run of a training job on GPUs that never ran, and the truth about "
		       "it.\v ",
		.help_filter = help_filter,
	};
	struct parse parse = { .command = command, .hosts = 1, .gpus = 8 };

	*command = (struct ct_synth_command){ .options = ct_synth_defaults(),
					      .texts = json_array() };
	argp_err_exit_status = USAGE;
	setenv("ARGP_HELP_FMT", "rmargin=120,opt-doc-col=28,no-dup-args-note", 1);
	argp_parse(&argp, argc, argv, 0, NULL, &parse);
	unsetenv("ARGP_HELP_FMT");
}

void ct_synth_command_free(struct ct_synth_command *command)
{
	free(command->truth);
	json_decref(command->texts);
}
