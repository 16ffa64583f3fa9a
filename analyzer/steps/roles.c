/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/steps/roles.h"

#include <ctype.h>
#include <string.h>

#include "analyzer/base/limits.h"
#include "trace/ops.h"
#include "trace/status.h"

const char *ct_role_name(enum ct_role_id id)
{
	static const char *const names[] = { NULL, "world", "dp", "tp", "pp", "ep", "embedding" };

	return names[id];
}

/* ---- by name ---- */

/* Words of names as PyTorch, Megatron, DeepSpeed and JAX programs give them. */
static const struct {
	const char *word;
	enum ct_role_id id;
} words[] = {
	{ "world", CT_IS_WORLD }, { "default", CT_IS_WORLD }, { "dp", CT_IS_DP },
	{ "ddp", CT_IS_DP },	  { "fsdp", CT_IS_DP },	      { "data", CT_IS_DP },
	{ "tp", CT_IS_TP },	  { "tensor", CT_IS_TP },     { "pp", CT_IS_PP },
	{ "pipeline", CT_IS_PP }, { "pipe", CT_IS_PP },	      { "ep", CT_IS_EP },
	{ "expert", CT_IS_EP },	  { "moe", CT_IS_EP },
};

static enum ct_role_id role_of_word(const char *word)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcmp(words[i].word, word) == 0)
			return words[i].id;
	}
	return CT_ROLE_UNKNOWN;
}

enum ct_role_id ct_role_of_name(const char *name)
{
	enum ct_role_id found = CT_ROLE_UNKNOWN;
	char word[32];

	while (name && *name) {
		size_t n = 0;
		enum ct_role_id id;

		while (*name && !isalpha((unsigned char)*name))
			name++;
		for (; isalpha((unsigned char)*name); name++) {
			if (n + 1 < sizeof(word))
				word[n++] = (char)tolower((unsigned char)*name);
		}
		word[n] = '\0';
		id = role_of_word(word);
		if (id && found && id != found)
			return CT_ROLE_UNKNOWN; /* "tensor and data", "expert data" */
		found = id ? id : found;
	}
	return found;
}

/* ---- by content ---- */

static const struct ct_role_size *commonest(const struct ct_role_facts *f)
{
	const struct ct_role_size *most = NULL;

	for (uint32_t k = 0; k < f->n_sizes; k++) {
		if (!most || f->sizes[k].n > most->n)
			most = &f->sizes[k];
	}
	return most;
}

/* How often the commonest collective comes in a step; the largest one's bytes. */
static double a_step(const struct ct_role_facts *f, uint64_t *largest)
{
	const struct ct_role_size *most = commonest(f);

	*largest = 0;
	for (uint32_t k = 0; k < f->n_sizes; k++)
		*largest = f->sizes[k].bytes > *largest ? f->sizes[k].bytes : *largest;
	return most && f->steps > 0 ? (double)most->n / f->steps : 0;
}

static int is_pipeline(const struct ct_role_facts *f)
{
	double ops = (double)(f->collectives + f->exchanges + f->messages);

	/* swaps alone would be either */
	return f->messages && (double)f->messages >= CT_NEARLY_ALL * ops &&
	       f->neighbours == f->messages;
}

/* Exchanges of all with all, or messages that go to every rank. Of two or three members a message
 * always goes to a neighbour, and only a program that exchanges with all sends to itself. */
static int is_expert(const struct ct_role_facts *f)
{
	double exchanged = (double)f->exchanged_bytes;
	int to_all = f->to_self || (f->n > 3 && 2 * f->neighbours < f->messages);

	if (to_all)
		exchanged += (double)f->message_bytes;
	return (f->exchanges || to_all) && f->bytes && exchanged >= CT_MOST * (double)f->bytes;
}

static int set(struct ct_role *role, enum ct_role_id id, enum ct_confidence confidence,
	       const char *evidence)
{
	*role = (struct ct_role){ id, confidence, evidence };
	return evidence ? CT_OK : CT_NOMEM;
}

static int by_collectives(const struct ct_role_facts *f, struct ct_arena *memory,
			  struct ct_role *role)
{
	const struct ct_role_size *most = commonest(f);
	uint64_t largest;
	double times = a_step(f, &largest);
	const char *where = f->one_host ? ", on one host" : "";

	if (!most || times <= 0 || f->messages || f->exchanges)
		return CT_OK;
	/* gathered and scattered layer by layer: sharded parameters and sequence parallelism look
	 * alike */
	if (times >= CT_MANY_A_STEP)
		return most->op == CT_OP_AllReduce && f->stride == 1
			       ? set(role, CT_IS_TP,
				     f->one_host ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM,
				     ct_arena_printf(memory,
						     "%.0f equal AllReduces a step among %u "
						     "neighbouring ranks%s",
						     times, f->n, where))
			       : CT_OK;
	if (times > CT_FEW_A_STEP)
		return CT_OK;
	/* those that train the same stage on other data are in other pipelines */
	if (f->in_one_pipe == 2)
		return set(
			role, CT_IS_EMBEDDING, CT_CONFIDENCE_MEDIUM,
			ct_arena_printf(memory,
					"%.1f equal collectives a step between the first and the "
					"last stage of a pipeline",
					times));
	if (f->in_one_pipe)
		return CT_OK;
	if (largest >= CT_LARGE_BYTES)
		return set(role, CT_IS_DP, f->stride > 1 ? CT_CONFIDENCE_MEDIUM : CT_CONFIDENCE_LOW,
			   ct_arena_printf(memory,
					   "%.1f equal collectives a step, %llu bytes, among %u "
					   "ranks %u apart",
					   times, (unsigned long long)largest, f->n, f->stride));
	if (f->has_tensor_peer && f->stride > 1)
		return set(role, CT_IS_DP, CT_CONFIDENCE_LOW,
			   ct_arena_printf(memory,
					   "one rank of each of %u tensor parallel groups, %.1f "
					   "collectives a step",
					   f->n, times));
	return CT_OK;
}

int ct_role_of(const struct ct_role_facts *f, struct ct_arena *memory, struct ct_role *role)
{
	enum ct_role_id named = ct_role_of_name(f->name);

	*role = (struct ct_role){ CT_ROLE_UNKNOWN, CT_CONFIDENCE_NONE, NULL };
	if (f->n < 2)
		return CT_OK;
	if (named)
		return set(role, named, CT_CONFIDENCE_HIGH,
			   ct_arena_printf(memory, "named %s", f->name));
	if (f->has_all_ranks && f->is_first)
		return set(role, CT_IS_WORLD, CT_CONFIDENCE_HIGH,
			   ct_arena_printf(memory, "all %u ranks of the job", f->n));
	if (is_expert(f))
		return set(role, CT_IS_EP, CT_CONFIDENCE_MEDIUM,
			   ct_arena_printf(memory,
					   "most of its bytes go from all to all of %u ranks",
					   f->n));
	if (is_pipeline(f))
		return set(role, CT_IS_PP, f->n > 2 ? CT_CONFIDENCE_HIGH : CT_CONFIDENCE_MEDIUM,
			   ct_arena_printf(memory, "messages between neighbours of %u ranks only",
					   f->n));
	return by_collectives(f, memory, role);
}
