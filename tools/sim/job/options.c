/* SPDX-License-Identifier: Apache-2.0 */
/* options.c — the command line of commtrace-simjob. */
#include <argp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim/job/simjob.h"
#include "tools/workload/arguments.h"

enum job_option {
	KEY_RANKS = 256,
	KEY_RANKS_PER_PROCESS,
	KEY_NODES,
	KEY_WORKLOAD,
	KEY_STEPS,
	KEY_SEED,
	KEY_TP,
	KEY_PP,
	KEY_DP,
	KEY_STEP_MS,
	KEY_SCALE,
	KEY_GRAPH,
	KEY_NONBLOCKING,
	KEY_FAULT,
	KEY_TIMING,
	KEY_OFFSET,
	KEY_DRIFT,
	KEY_END_SKEW,
	KEY_JOURNAL,
	KEY_RESULT,
	KEY_SPANS,
	KEY_STALLS,
	KEY_ON_DEATH,
	KEY_GIVE_UP,
	KEY_NODE_ENV,
	KEY_WHERE,
	KEY_WORKER,
};

static const struct argp_option table[] = {
	{ 0, 0, 0, 0, "The job:", 1 },
	{ "ranks", KEY_RANKS, "N", 0, "Ranks, one simulated GPU each (8)", 1 },
	{ "ranks-per-process", KEY_RANKS_PER_PROCESS, "K", 0,
	  "Ranks that a process holds, a thread each (1)", 1 },
	{ "nodes", KEY_NODES, "M", 0, "Nodes that the ranks are spread over (1)", 1 },
	{ "workload", KEY_WORKLOAD, "W", 0, "What they do (ddp)", 1 },
	{ "steps", KEY_STEPS, "S", 0, "How often (10)", 1 },
	{ "seed", KEY_SEED, "N", 0, "What is random follows from it (1)", 1 },
	{ "tp", KEY_TP, "N", 0, "Ranks of a tensor group (megatron, decode)", 1 },
	{ "pp", KEY_PP, "N", 0, "Stages of a pipeline (megatron)", 1 },
	{ "dp", KEY_DP, "N", 0, "Copies of the model (megatron, moe, decode)", 1 },
	{ "step-ms", KEY_STEP_MS, "X", 0, "What a rank computes in a step (25)", 1 },
	{ "scale", KEY_SCALE, "N", 0,
	  "Real sizes and real bandwidths are divided by this (256): all durations stay", 1 },
	{ "graph", KEY_GRAPH, "global|thread|relaxed", OPTION_ARG_OPTIONAL,
	  "With workload decode: communication is captured into CUDA graphs, in this mode (global)",
	  1 },
	{ "nonblocking", KEY_NONBLOCKING, 0, 0,
	  "Communicators are nonblocking: calls come back at once, and are asked after until they "
	  "are done",
	  1 },
	{ 0, 0, 0, 0, "What is not as it should be:", 2 },
	{ "fault", KEY_FAULT, "KIND:key=value,...", 0, "Repeatable; see below", 2 },
	{ "timing", KEY_TIMING, "real|none", 0,
	  "none: every simulated duration is zero, only the order is kept (real)", 2 },
	{ "clock-offset-ms", KEY_OFFSET, "X", 0,
	  "Clocks of devices are off by half of this to all of it, either way (1000)", 2 },
	{ "drift-ppm", KEY_DRIFT, "X", 0, "and drift by half of this to all of it (20)", 2 },
	{ "end-skew-us", KEY_END_SKEW, "X", 0,
	  "Ranks end a communication kernel up to so much apart (3)", 2 },
	{ 0, 0, 0, 0, "What is left behind:", 3 },
	{ "journal", KEY_JOURNAL, "FILE", 0,
	  "A file with what each rank has called, mapped: survives SIGKILL", 3 },
	{ "result", KEY_RESULT, "FILE.json", 0, "How the job went", 3 },
	{ "spans", KEY_SPANS, "FILE.jsonl", 0, "When each communication kernel really ran", 3 },
	{ "stalls", KEY_STALLS, "FILE.jsonl", 0, "When each stream really waited for an event", 3 },
	{ 0, 0, 0, 0, "The launcher:", 4 },
	{ "on-death", KEY_ON_DEATH, "kill|wait", 0,
	  "When a process dies, end the others, or let them (kill)", 4 },
	{ "give-up", KEY_GIVE_UP, "SECONDS", 0,
	  "Kill everything after so long without any progress (60)", 4 },
	{ "node-env", KEY_NODE_ENV, "NAME", 0,
	  "Set this variable to node0, node1, ... on the nodes", 4 },
	{ "where", KEY_WHERE, 0, 0,
	  "Run nothing: write which operation each fault is about, as JSON, and how many each rank "
	  "has",
	  4 },
	{ 0, 'h', 0, OPTION_HIDDEN, 0, 4 },
	{ "worker", KEY_WORKER, "FD,PROCESS", OPTION_HIDDEN, 0, 4 },
	{ 0 }
};

#define AT(field) offsetof(struct simjob_options, field)

/* Options that set one field each. */
static const struct ct_argument fields[] = {
	{ KEY_RANKS, CT_ARGUMENT_INT, AT(config.ranks), 1, 1024 },
	{ KEY_RANKS_PER_PROCESS, CT_ARGUMENT_INT, AT(ranks_per_process), 1, 1024 },
	{ KEY_NODES, CT_ARGUMENT_INT, AT(config.nodes), 1, 1024 },
	{ KEY_WORKLOAD, CT_ARGUMENT_TEXT, AT(config.name), 0, 0 },
	{ KEY_STEPS, CT_ARGUMENT_U64, AT(config.steps), 1, 100000000 },
	{ KEY_SEED, CT_ARGUMENT_U64, AT(config.seed), 0, UINT64_MAX },
	{ KEY_TP, CT_ARGUMENT_INT, AT(config.tp), 1, 1024 },
	{ KEY_PP, CT_ARGUMENT_INT, AT(config.pp), 1, 1024 },
	{ KEY_DP, CT_ARGUMENT_INT, AT(config.dp), 1, 1024 },
	{ KEY_SCALE, CT_ARGUMENT_UNSIGNED, AT(config.scale), 1, 1000000 },
	{ KEY_NONBLOCKING, CT_ARGUMENT_FLAG, AT(nonblocking), 0, 0 },
	{ KEY_OFFSET, CT_ARGUMENT_REAL, AT(clock_offset_ms), 0, 1000000000 },
	{ KEY_DRIFT, CT_ARGUMENT_REAL, AT(drift_ppm), 0, 100000 },
	{ KEY_END_SKEW, CT_ARGUMENT_REAL, AT(end_skew_us), 0, 1000000 },
	{ KEY_JOURNAL, CT_ARGUMENT_TEXT, AT(journal), 0, 0 },
	{ KEY_RESULT, CT_ARGUMENT_TEXT, AT(result), 0, 0 },
	{ KEY_SPANS, CT_ARGUMENT_TEXT, AT(spans), 0, 0 },
	{ KEY_STALLS, CT_ARGUMENT_TEXT, AT(stalls), 0, 0 },
	{ KEY_GIVE_UP, CT_ARGUMENT_REAL, AT(give_up_s), 0, 1000000 },
	{ KEY_NODE_ENV, CT_ARGUMENT_TEXT, AT(node_env), 0, 0 },
	{ KEY_WHERE, CT_ARGUMENT_FLAG, AT(only_where), 0, 0 },
	{ 0 }
};

static int accepts(enum ct_fault_kind kind)
{
	return ct_fault_where(kind) != CT_FAULT_IN_TRACES;
}

static void add_fault(struct argp_state *state, struct simjob_options *o, const char *arg)
{
	struct ct_fault *fault = &o->faults[o->config.n_faults];
	char why[512];

	if (o->config.n_faults == SIMJOB_FAULTS)
		argp_error(state, "more than %d faults", SIMJOB_FAULTS);
	if (ct_fault_parse(arg, fault, why, sizeof(why)))
		argp_error(state, "%s", why);
	if (!accepts(fault->kind))
		argp_error(state, "fault %s is for traces that are generated, not for a job",
			   ct_fault_name(fault->kind));
	o->config.n_faults++;
}

static void set_worker(struct argp_state *state, struct simjob_options *o, const char *arg)
{
	char *end;

	o->board_fd = (int)strtol(arg, &end, 10);
	if (*end != ',')
		argp_error(state, "--worker is for the launcher");
	o->process = (int)strtol(end + 1, &end, 10);
}

static void set_graph(struct argp_state *state, struct simjob_options *o, const char *arg)
{
	static const char *const modes[] = { "global", "thread", "relaxed" };

	for (int i = 0; i < 3; i++)
		if (!arg || strcmp(arg, modes[i]) == 0) {
			o->graph = i + 1;
			return;
		}
	argp_error(state, "--graph: '%s' is neither global, thread nor relaxed", arg);
}

static void finish(struct argp_state *state, struct simjob_options *o)
{
	const struct ct_workload_config *c = &o->config;
	const int per_node = c->nodes > 0 ? c->ranks / c->nodes : c->ranks;

	if (o->graph && strcmp(c->name, "decode") != 0)
		argp_error(state, "--graph is for workload decode");
	if (c->ranks % c->nodes)
		argp_error(state, "%d ranks cannot be spread over %d nodes evenly", c->ranks,
			   c->nodes);
	if (c->nodes > 1 && per_node % o->ranks_per_process)
		argp_error(state, "%d ranks of a node are not processes of %d ranks", per_node,
			   o->ranks_per_process);
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct simjob_options *o = state->input;

	switch (key) {
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case KEY_STEP_MS:
		o->config.step_ns = (uint64_t)(1e6 * ct_argument_real(state, key, arg, 1e6)) + 1;
		return 0;
	case KEY_GRAPH:
		set_graph(state, o, arg);
		return 0;
	case KEY_FAULT:
		add_fault(state, o, arg);
		return 0;
	case KEY_TIMING:
		o->timing = ct_argument_one_of(state, key, arg, "real", "none");
		return 0;
	case KEY_ON_DEATH:
		o->kill_on_death = ct_argument_one_of(state, key, arg, "kill", "wait");
		return 0;
	case KEY_WORKER:
		set_worker(state, o, arg);
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "what is '%s'?", arg);
		return 0;
	case ARGP_KEY_END:
		finish(state, o);
		return 0;
	default:
		return ct_argument_set(fields, key, arg, state, o);
	}
}

static char *help_filter(int key, const char *text, void *input)
{
	(void)input;
	return ct_argument_help(key, text, accepts);
}

void simjob_options(struct simjob_options *options, int argc, char **argv)
{
	static const struct argp argp = {
		.options = table,
		.parser = parse_option,
		.doc = "Run a training job on simulated GPUs.\v ",
		.help_filter = help_filter,
	};

	*options = (struct simjob_options){
		.config = { .name = "ddp", .ranks = 8, .nodes = 1, .steps = 10, .seed = 1 },
		.ranks_per_process = 1,
		.timing = 1,
		.kill_on_death = 1,
		.give_up_s = 60,
		.clock_offset_ms = 1000,
		.drift_ppm = 20,
		.end_skew_us = 3,
		.board_fd = -1,
		.process = -1,
	};
	argp_err_exit_status = SIMJOB_USAGE;
	setenv("ARGP_HELP_FMT", "rmargin=120,opt-doc-col=28,no-dup-args-note", 1);
	argp_parse(&argp, argc, argv, 0, NULL, options);
	unsetenv("ARGP_HELP_FMT");
}
