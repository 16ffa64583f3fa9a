/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/commtrace/jsonl/import_model.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/sort.h"
#include "tools/commtrace/base/say.h"

static int no_memory(const struct ct_import *import)
{
	ct_say("cannot import: %s: %s", import->file, ct_status_text(CT_NOMEM));
	return -1;
}

/* Space for one more element behind n in *array, doubling when n is a power of two. 0 or -1. */
static int grow(void *array, size_t n, size_t size)
{
	void **p = array;
	void *grown;

	if (n & (n - 1))
		return 0;
	grown = reallocarray(*p, n ? 2 * n : 1, size);
	if (!grown)
		return -1;
	*p = grown;
	return 0;
}

/* Index of a text in one of the maps; -1 if it is new. */
static int64_t look_up(const json_t *index, const char *text)
{
	const json_t *found = json_object_get(index, text);

	return found ? json_integer_value(found) : -1;
}

/* Remember that a text has this index. 0 or -1. */
static int enter(json_t **index, const char *text, size_t at)
{
	if (!*index)
		*index = json_object();
	return json_object_set_new(*index, text, json_integer((json_int_t)at));
}

struct ct_import_process *ct_import_process(struct ct_import *import,
					    const struct ct_import_process *id)
{
	char name[128];
	int64_t at;

	snprintf(name, sizeof(name), "%s %" PRId32 " %" PRIu32, id->host, id->rank, id->pid);
	at = look_up(import->process_index, name);
	if (at >= 0)
		return &import->processes[at];
	if (grow(&import->processes, import->n_processes, sizeof(*id)) < 0 ||
	    enter(&import->process_index, name, import->n_processes) < 0) {
		no_memory(import);
		return NULL;
	}
	import->processes[import->n_processes] = *id;
	return &import->processes[import->n_processes++];
}

/* A process is a member of a communicator once it has an op on it. */
static int join(struct ct_import_process *process, struct ct_import_comm *comm, uint32_t index,
		int32_t rank)
{
	for (size_t i = process->n_members; i > 0; i--) {
		struct ct_import_member *member = &process->members[i - 1];

		if (member->comm != index)
			continue;
		member->rank = member->rank < 0 ? rank : member->rank;
		return 0;
	}
	if (grow(&process->members, process->n_members, sizeof(*process->members)) < 0 ||
	    grow(&comm->seen, comm->n_seen, sizeof(*comm->seen)) < 0)
		return -1;
	process->members[process->n_members++] = (struct ct_import_member){ index, rank };
	comm->seen[comm->n_seen++] = process->rank;
	return 0;
}

uint32_t ct_import_comm(struct ct_import *import, struct ct_import_process *process,
			const struct ct_import_comm *comm, const char *name, int32_t rank)
{
	char key[20];
	int64_t at;
	struct ct_import_comm *known;

	snprintf(key, sizeof(key), "%016" PRIx64, comm->hash);
	at = look_up(import->comm_index, key);
	if (at < 0) {
		at = (int64_t)import->n_comms;
		if (grow(&import->comms, import->n_comms, sizeof(*comm)) < 0 ||
		    enter(&import->comm_index, key, import->n_comms) < 0) {
			no_memory(import);
			return 0;
		}
		import->comms[import->n_comms++] = *comm;
	}
	known = &import->comms[at];
	if (comm->nranks > known->nranks)
		known->nranks = comm->nranks;
	/* a call names a communicator, and no library */
	if (known->backend == CT_BACKEND_IMPORT)
		known->backend = comm->backend;
	if (name && !known->name)
		known->name = strdup(name);
	if (join(process, known, (uint32_t)at, rank) < 0) {
		no_memory(import);
		return 0;
	}
	return (uint32_t)at + 1;
}

static int64_t intern(struct ct_import *import, json_t **index, char ***texts, size_t *n,
		      const char *text)
{
	int64_t at = look_up(*index, text);

	if (at >= 0)
		return at;
	if (grow(texts, *n, sizeof(**texts)) < 0 || enter(index, text, *n) < 0)
		return no_memory(import);
	(*texts)[*n] = strdup(text);
	if (!(*texts)[*n])
		return no_memory(import);
	return (int64_t)(*n)++;
}

uint32_t ct_import_call(struct ct_import *import, const char *name)
{
	int64_t at = intern(import, &import->call_index, &import->calls, &import->n_calls, name);

	if (at + 1 < (int64_t)CT_IMPORT_FIRST_SITE)
		return at < 0 ? 0 : (uint32_t)at + 1;
	ct_say("cannot import: %s:%lu: more than %u different calls", import->file, import->line,
	       CT_IMPORT_FIRST_SITE - 1);
	return 0;
}

uint32_t ct_import_site(struct ct_import *import, const char *text)
{
	int64_t at = intern(import, &import->site_index, &import->sites, &import->n_sites, text);

	return at < 0 ? 0 : (uint32_t)at + CT_IMPORT_FIRST_SITE;
}

int ct_import_add(struct ct_import *import, struct ct_import_process *process,
		  const struct ct_import_op *op)
{
	if (grow(&process->ops, process->n_ops, sizeof(*op)) < 0)
		return no_memory(import);
	process->ops[process->n_ops] = *op;
	process->ops[process->n_ops++].line = import->line;
	import->n_ops++;
	return 0;
}

int ct_import_add_call(struct ct_import *import, struct ct_import_process *process,
		       const struct ct_import_call *call)
{
	if (grow(&process->calls, process->n_calls, sizeof(*call)) < 0)
		return no_memory(import);
	process->calls[process->n_calls++] = *call;
	return 0;
}

CT_SORT_BY(by_enter, struct ct_import_call, CT_UP(enter_ns))
/* Operations that were entered at once stay in the order of their lines. */
CT_SORT_BY(by_enter_and_line, struct ct_import_op, CT_UP(op.enter_ns) ?: CT_UP(line))

void ct_import_settle(struct ct_import *import)
{
	for (size_t i = 0; i < import->n_processes; i++) {
		struct ct_import_process *process = &import->processes[i];

		if (process->n_ops)
			qsort(process->ops, process->n_ops, sizeof(*process->ops),
			      by_enter_and_line);
		if (process->n_calls)
			qsort(process->calls, process->n_calls, sizeof(*process->calls), by_enter);
	}
	for (size_t i = 0; i < import->n_comms; i++) {
		struct ct_import_comm *comm = &import->comms[i];
		size_t n = 0;

		qsort(comm->seen, comm->n_seen, sizeof(*comm->seen), ct_by_int);
		for (size_t k = 0; k < comm->n_seen; k++) {
			if (n == 0 || comm->seen[n - 1] != comm->seen[k])
				comm->seen[n++] = comm->seen[k];
		}
		comm->n_seen = n;
	}
}

static void free_texts(char **texts, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(texts[i]);
	free(texts);
}

void ct_import_fini(struct ct_import *import)
{
	for (size_t i = 0; i < import->n_processes; i++) {
		free(import->processes[i].ops);
		free(import->processes[i].calls);
		free(import->processes[i].members);
	}
	for (size_t i = 0; i < import->n_comms; i++) {
		free(import->comms[i].name);
		free(import->comms[i].seen);
	}
	free(import->processes);
	free(import->comms);
	free_texts(import->calls, import->n_calls);
	free_texts(import->sites, import->n_sites);
	json_decref(import->process_index);
	json_decref(import->comm_index);
	json_decref(import->call_index);
	json_decref(import->site_index);
}
