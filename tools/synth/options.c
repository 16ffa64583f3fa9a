/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/synth/options.h"

#include <argp.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/workload/arguments.h"
#include "trace/path.h"

#define USAGE 2
#define RANKS_MOST 65536 /* size: ranks of a generated run */

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
	{ 0, 'h', 0, OPTION_HIDDEN, 0, 4 },
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

#define AT(field) offsetof(struct ct_synth_options, field)

/* Options that set one field each. */
static const struct ct_argument fields[] = {
	{ KEY_SEED, CT_ARGUMENT_U64, AT(job.seed), 0, UINT64_MAX },
	{ KEY_PER_PROCESS, CT_ARGUMENT_INT, AT(per_process), 1, 64 },
	{ KEY_STEPS, CT_ARGUMENT_U64, AT(job.steps), 1, 100000000 },
	{ KEY_WORKLOAD, CT_ARGUMENT_TEXT, AT(job.name), 0, 0 },
	{ KEY_TP, CT_ARGUMENT_INT, AT(job.tp), 1, RANKS_MOST },
	{ KEY_PP, CT_ARGUMENT_INT, AT(job.pp), 1, RANKS_MOST },
	{ KEY_DP, CT_ARGUMENT_INT, AT(job.dp), 1, RANKS_MOST },
	{ KEY_OFFSET, CT_ARGUMENT_REAL, AT(offset_ms), 0, 1000000 },
	{ KEY_DRIFT, CT_ARGUMENT_REAL, AT(drift_ppm), 0, 10000 },
	{ KEY_WANDER, CT_ARGUMENT_REAL, AT(wander_ppb), 0, 100000 },
	{ KEY_JITTER, CT_ARGUMENT_REAL, AT(jitter_us), 0, 100000 },
	{ KEY_SKEW, CT_ARGUMENT_REAL, AT(world.end_skew_us), 0, 1000000 },
	{ KEY_SKEW_FIXED, CT_ARGUMENT_REAL, AT(world.end_skew_fixed_us), 0, 1000000 },
	{ KEY_NOISE, CT_ARGUMENT_REAL, AT(world.noise_pct), 0, 100 },
	{ KEY_SPREAD, CT_ARGUMENT_REAL, AT(world.spread_pct), 0, 90 },
	{ KEY_GIVE_UP, CT_ARGUMENT_REAL, AT(give_up_s), 0, 1000000 },
	{ 0 }
};

static int accepts(enum ct_fault_kind kind)
{
	return ct_fault_where(kind) != CT_FAULT_IN_JOBS && kind != CT_FAULT_ABORT_COMPLETES;
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
	o->world.hiccup_rate = ct_argument_real(state, KEY_HICCUP, copy, 1);
	o->world.hiccup_ms = ct_argument_real(state, KEY_HICCUP, colon + 1, 1e6);
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
	if (!accepts(fault->kind))
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
	if ((int64_t)parse->hosts * parse->gpus > RANKS_MOST)
		argp_error(state, "%d hosts of %d ranks are more than %d ranks", parse->hosts,
			   parse->gpus, RANKS_MOST);
	if (parse->gpus % o->per_process)
		argp_error(state, "%d ranks of a host are not processes of %d ranks", parse->gpus,
			   o->per_process);
	o->job.ranks = parse->hosts * parse->gpus;
	o->job.nodes = parse->hosts;
	if (!command->truth && asprintf(&command->truth, "%.*s.truth.json",
					(int)ct_path_len(command->run), command->run) < 0)
		argp_failure(state, 1, 0, "no memory");
}

static error_t set_option(int key, const char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;
	struct ct_synth_options *o = &parse->command->options;

	switch (key) {
	case KEY_HOSTS:
		parse->hosts = (int)ct_argument_whole(state, key, arg, 1, RANKS_MOST);
		return 0;
	case KEY_GPUS:
		parse->gpus = (int)ct_argument_whole(state, key, arg, 1, RANKS_MOST);
		return 0;
	case KEY_STEP_MS:
		o->job.step_ns = (uint64_t)(1e6 * ct_argument_real(state, key, arg, 1e6)) + 1;
		return 0;
	case KEY_FAULT:
		add_fault(state, o, arg);
		return 0;
	case KEY_HICCUP:
		set_hiccup(state, o, arg);
		return 0;
	case KEY_TIMING:
		set_timing(state, o, arg);
		return 0;
	case KEY_MISMATCH:
		o->world.mismatch_goes_on = ct_argument_one_of(state, key, arg, "go-on", "hang");
		return 0;
	case KEY_ON_DEATH:
		o->world.death_to_kill_s = ct_argument_one_of(state, key, arg, "kill", "wait") ? 1.5
											       : -1;
		return 0;
	case KEY_SEGMENT:
		o->segment_bytes = 1000 * ct_argument_whole(state, key, arg, 1, 1000000000);
		return 0;
	default:
		return ct_argument_set(fields, key, arg, state, o);
	}
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct parse *parse = state->input;

	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
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
		return set_option(key, arg, state);
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	return ct_argument_help(key, text, accepts);
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
