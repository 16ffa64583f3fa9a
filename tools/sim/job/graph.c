/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/job/graph.h"

#include <stdlib.h>
#include <string.h>

#include "tools/sim/sim.h"

enum {
	PIECE_OPS = 2,	    /* data-moving ops in a piece */
	PIECE_ACTIONS = 32, /* at most */
	PIECES = 256,	    /* of a step */
	QUEUE = 64,	    /* launches that a graph may be behind */
};

/* What one node does at its next launches. One thread fills, the stream's takes. */
struct node {
	struct {
		simjob_deed_fn *deed;
		void *arg;
		uint64_t ns;
	} queue[QUEUE];
	_Atomic unsigned put, taken;
};

struct graph_piece {
	struct ct_action actions[PIECE_ACTIONS]; /* as captured */
	struct node *nodes[PIECE_ACTIONS];
	int n;
	cudaGraphExec_t exec; /* NULL: not captured yet */
};

struct simjob_graphs {
	struct ct_action kept[PIECE_ACTIONS];
	int n_kept, n_ops;
	cudaStream_t stream; /* to capture on */
	uint64_t step;
	int at; /* which piece of the step comes next */
	struct graph_piece pieces[PIECES];
};

struct simjob_graphs *simjob_graphs_make(void)
{
	return calloc(1, sizeof(struct simjob_graphs));
}

static int same(const struct ct_action *a, const struct ct_action *b)
{
	const struct ct_workload_op *x = &a->op, *y = &b->op;

	if (a->kind != b->kind || a->stream != b->stream)
		return 0;
	return a->kind == CT_ACTION_COMPUTE ||
	       (x->op == y->op && x->dtype == y->dtype && x->redop == y->redop &&
		x->comm == y->comm && x->peer == y->peer && x->count == y->count &&
		x->slot == y->slot && x->in_place == y->in_place);
}

static int is_as_captured(const struct graph_piece *p, const struct simjob_graphs *g)
{
	int as = p->n == g->n_kept;

	for (int i = 0; i < p->n && as; i++)
		as = same(&p->actions[i], &g->kept[i]);
	return as;
}

static unsigned take_turn(struct node *node)
{
	return atomic_fetch_add(&node->taken, 1) % QUEUE;
}

static void do_deed(void *arg)
{
	struct node *node = arg;
	unsigned at = take_turn(node);

	if (node->queue[at].deed)
		node->queue[at].deed(node->queue[at].arg);
}

static uint64_t compute(void *arg, uint64_t start_ns, CUresult *error)
{
	struct node *node = arg;

	(void)error;
	return start_ns + node->queue[take_turn(node)].ns;
}

/* What the node will find at the launch that comes. */
static void hand_over(struct simjob_rank *r, struct node *node, const struct ct_action *action)
{
	unsigned at = atomic_load(&node->put);
	simjob_deed_fn *deed = NULL;
	void *arg = NULL;

	while (at - atomic_load(&node->taken) == QUEUE)
		simSleepUntil(simNow() + 100 * 1000);
	if (action->kind != CT_ACTION_COMPUTE)
		SIMJOB_CUDA(r, simjob_data_deed,
			    (r->data, &action->op, action->kind == CT_ACTION_CONSUME, &deed, &arg));
	node->queue[at % QUEUE].deed = deed;
	node->queue[at % QUEUE].arg = arg;
	node->queue[at % QUEUE].ns = simTiming() ? action->ns : 0;
	atomic_store(&node->put, at + 1);
}

static struct node *capture_node(struct simjob_rank *r, const struct ct_action *action)
{
	const cudaStream_t stream = r->streams[action->stream];
	struct node *node;

	if (action->kind == CT_ACTION_OP) {
		simjob_nccl_op(r, action);
		return NULL;
	}
	node = calloc(1, sizeof(*node));
	if (!node)
		simjob_rank_fail(r, "calloc", "no memory");
	if (action->kind != CT_ACTION_COMPUTE)
		SIMJOB_CUDA(r, cudaLaunchHostFunc, (stream, do_deed, node));
	else if (simLaunch(stream, &(struct sim_kernel){ compute, NULL, node }))
		simjob_rank_fail(r, "simLaunch", "refused");
	return node;
}

static void capture(struct simjob_rank *r, struct graph_piece *p)
{
	struct simjob_graphs *g = r->graphs;
	cudaStream_t *stream = &r->streams[g->kept[0].stream];
	const cudaStream_t usual = *stream;
	cudaGraph_t graph;

	/* As PyTorch, on a stream of its own: the default one cannot be captured. */
	if (!g->stream)
		SIMJOB_CUDA(r, cudaStreamCreateWithFlags, (&g->stream, cudaStreamNonBlocking));
	*stream = g->stream;
	p->n = g->n_kept;
	memcpy(p->actions, g->kept, (size_t)p->n * sizeof(*p->actions));
	SIMJOB_CUDA(r, cudaStreamBeginCapture,
		    (*stream, (enum cudaStreamCaptureMode)(r->job->options.graph - 1)));
	for (int i = 0; i < p->n; i++)
		p->nodes[i] = capture_node(r, &p->actions[i]);
	SIMJOB_CUDA(r, cudaStreamEndCapture, (*stream, &graph));
	*stream = usual;
	SIMJOB_CUDA(r, cudaGraphInstantiate, (&p->exec, graph, 0));
	SIMJOB_CUDA(r, cudaGraphDestroy, (graph));
}

static void launch(struct simjob_rank *r, struct graph_piece *p)
{
	const struct simjob_graphs *g = r->graphs;

	for (int i = 0; i < p->n; i++)
		if (p->nodes[i])
			hand_over(r, p->nodes[i], &g->kept[i]);
	SIMJOB_CUDA(r, cudaGraphLaunch, (p->exec, r->streams[g->kept[0].stream]));
}

/* What was kept is put on its stream. */
static void put(struct simjob_rank *r, void (*act)(struct simjob_rank *, const struct ct_action *))
{
	struct simjob_graphs *g = r->graphs;
	struct graph_piece *p = &g->pieces[g->at % PIECES];

	if (!g->n_kept)
		return;
	g->at++;
	if (g->step > 0 && !p->exec && g->at <= PIECES)
		capture(r, p);
	if (p->exec && is_as_captured(p, g)) {
		launch(r, p);
	} else {
		for (int i = 0; i < g->n_kept; i++)
			act(r, &g->kept[i]);
	}
	g->n_kept = g->n_ops = 0;
}

static int is_of_a_piece(const struct simjob_graphs *g, const struct ct_action *action)
{
	switch (action->kind) {
	case CT_ACTION_PRODUCE:
	case CT_ACTION_OP:
	case CT_ACTION_CONSUME:
		return !g->n_kept || action->stream == g->kept[0].stream;
	case CT_ACTION_COMPUTE:
		return g->n_kept && action->stream == g->kept[0].stream && g->n_ops < PIECE_OPS;
	default:
		return 0;
	}
}

int simjob_graphs_take(struct simjob_rank *r, const struct ct_action *action,
		       void (*act)(struct simjob_rank *r, const struct ct_action *action))
{
	struct simjob_graphs *g = r->graphs;

	if (action->kind == CT_ACTION_STEP_BEGIN) {
		g->step = action->step;
		g->at = 0;
	}
	if (g->n_kept == PIECE_ACTIONS)
		put(r, act);
	/* what the CPU does meanwhile, and what happens to it, comes before the launch */
	if (action->kind == CT_ACTION_HOST || action->kind >= CT_ACTION_STOP)
		return 0;
	if (!is_of_a_piece(g, action)) {
		put(r, act);
		return 0;
	}
	g->kept[g->n_kept++] = *action;
	g->n_ops += action->kind == CT_ACTION_OP;
	if (g->n_ops == PIECE_OPS && action->kind == CT_ACTION_CONSUME)
		put(r, act);
	return 1;
}
