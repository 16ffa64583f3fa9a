/* SPDX-License-Identifier: Apache-2.0 */
/* list_waits RUN — the host-blocking calls on record, one a line, and the launches that had not
 * ended:
 *
 *   RANK wait|poll NAME ended|open DURATION_US   open: since its beginning, up to the last word of
 * it RANK open OP PEER TAG */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/e2e/evidence.h"
#include "trace/ops.h"

#define MOST_STRINGS 65536
#define MOST_OPEN 4096

static char *names[MOST_STRINGS];
static struct ct_host_rec begun[MOST_OPEN];
static size_t n_begun;
static struct ct_open_launch_rec launches[MOST_OPEN];
static size_t n_launches;

static void take_string(const struct ct_block *block, const struct ct_rare *rare)
{
	const uint8_t *bytes = block->bytes + rare->at;
	uint32_t id;

	ct_rare_get(block, rare, &id, sizeof(id));
	if (id < MOST_STRINGS && rare->len >= sizeof(id) && !names[id])
		names[id] = strndup((const char *)bytes + sizeof(id), rare->len - sizeof(id));
}

static const char *name_of(uint32_t id)
{
	return id < MOST_STRINGS && names[id] ? names[id] : "?";
}

/* A begin may come again, later, and an end takes it away. */
static size_t index_of(const struct ct_host_rec *host)
{
	size_t i = 0;

	while (i < n_begun && (begun[i].tid != host->tid || begun[i].enter_ns != host->enter_ns))
		i++;
	return i;
}

static void take_host(int rank, const struct ct_host_rec *host, int is_end)
{
	size_t at = index_of(host);

	if (!is_end) {
		if (at == n_begun && n_begun < MOST_OPEN)
			n_begun++;
		if (at < MOST_OPEN)
			begun[at] = *host;
		return;
	}
	printf("%d %s %s ended %" PRIu64 "\n", rank, host->polled_ns ? "poll" : "wait",
	       name_of(host->call), (host->return_ns - host->enter_ns) / 1000);
	if (at < n_begun)
		begun[at] = begun[--n_begun];
}

static void take_block(int rank, const struct ct_block *block)
{
	struct ct_host_rec host;
	int tells_open = 0;

	for (uint32_t i = 0; i < block->n_rares; i++)
		if (block->rares[i].kind == CT_KIND_STRING)
			take_string(block, &block->rares[i]);
		else
			tells_open |= block->rares[i].kind == CT_KIND_STATUS;
	if (tells_open)
		n_launches = 0;
	for (uint32_t i = 0; i < block->n_rares; i++) {
		const struct ct_rare *rare = &block->rares[i];

		if (rare->kind == CT_KIND_OPEN_LAUNCH && n_launches < MOST_OPEN)
			ct_rare_get(block, rare, &launches[n_launches++], sizeof(launches[0]));
		if (rare->kind != CT_KIND_HOST_BEGIN && rare->kind != CT_KIND_HOST_END)
			continue;
		ct_rare_get(block, rare, &host, sizeof(host));
		take_host(rank, &host, rare->kind == CT_KIND_HOST_END);
	}
}

static void list(const struct ct_run *run, size_t i)
{
	int rank = run->processes[i].id.rank;
	struct ct_process_reader *reader;
	const struct ct_block *block;
	struct ct_err err = { 0 };

	n_begun = n_launches = 0;
	memset(names, 0, sizeof(names));
	if (ct_process_open(run, i, &reader, &err) != CT_OK) {
		fprintf(stderr, "list_waits: %s\n", err.text);
		exit(2);
	}
	while (ct_process_next(reader, &block, &err) > 0)
		take_block(rank, block);
	for (size_t k = 0; k < n_begun; k++)
		printf("%d %s %s open %" PRIu64 "\n", rank, begun[k].polled_ns ? "poll" : "wait",
		       name_of(begun[k].call),
		       begun[k].polled_ns ? (begun[k].polled_ns - begun[k].enter_ns) / 1000 : 0);
	for (size_t k = 0; k < n_launches; k++)
		printf("%d open %s %d %" PRIu64 "\n", rank, ct_op_name(launches[k].words[3] & 0xff),
		       (int32_t)(uint32_t)launches[k].words[6], launches[k].words[6] >> 32);
	ct_process_close(reader);
}

int main(int argc, char **argv)
{
	const char *const paths[] = { argv[1] };
	struct ct_run *run = argc == 2 ? evidence_open("list_waits", paths, 1) : NULL;

	if (!run)
		return 1;
	for (size_t i = 0; i < run->n_processes; i++)
		list(run, i);
	ct_run_close(run);
	return 0;
}
