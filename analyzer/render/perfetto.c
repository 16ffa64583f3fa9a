/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render/perfetto.h"

#include <inttypes.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/base/grow.h"
#include "analyzer/base/tasks.h"
#include "analyzer/render/perfetto_append.h"
#include "analyzer/render/perfetto_events.h"
#include "analyzer/render/perfetto_fields.h"
#include "analyzer/render/perfetto_packets.h"

/* A reader may refuse packets of half a MB, and this is one once it is deflated. */
#define BLOCK_BYTES (256u << 10)
#define MAX_DEPTH 256u

/* What is written at once: deflated by another thread while the next one is filled. */
struct perfetto_block {
	uint8_t *bytes, *packed;
	size_t used;
	size_t packed_len; /* 0: there was no memory */
	struct ct_perfetto *of;
	struct ct_task task;
};

struct ct_perfetto {
	FILE *out;
	struct libdeflate_compressor *deflate; /* NULL: packets are written as they are */
	size_t cap_packed;
	struct ct_tasks *tasks; /* NULL: none */
	struct perfetto_block blocks[2], *filled,
		*deflated; /* the latter NULL: none is being deflated */
	const struct ct_texts *texts;
	struct ct_packet packet;
	struct ct_perfetto_size size;
	uint8_t *sent; /* by text: 1 << enum ct_interned */
	uint32_t cap_sent;
	/* The track under way: ends of its open slices. */
	uint32_t track;
	uint64_t ends[MAX_DEPTH];
	uint32_t depth;
	uint64_t reached_ns; /* latest time written on it */
	uint64_t instant_ns; /* its latest instant; one of the same moment is inside it */
	uint32_t instants;   /* of that moment, since a slice began or ended */
	uint8_t *left;	     /* by track, bit: was under way */
	uint32_t cap_left;
	uint64_t wrong;
	char first_wrong[160];
};

static int deflate_block(void *arg)
{
	struct perfetto_block *block = arg;
	struct ct_perfetto *p = block->of;

	block->packed_len = libdeflate_zlib_compress(p->deflate, block->bytes, block->used,
						     block->packed, p->cap_packed);
	return block->packed_len ? CT_OK : CT_NOMEM;
}

/* One that is in use has memory for what it is deflated to. */
static int make_block(struct ct_perfetto *p, struct perfetto_block *block)
{
	block->of = p;
	block->bytes = malloc(BLOCK_BYTES);
	block->packed = p->deflate ? malloc(p->cap_packed) : NULL;
	block->task = (struct ct_task){ .run = deflate_block, .arg = block };
	return block->bytes && (!p->deflate || block->packed) ? CT_OK : CT_NOMEM;
}

struct ct_perfetto *ct_perfetto_new(FILE *out, int level, unsigned threads)
{
	struct ct_perfetto *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->out = out;
	p->filled = p->blocks;
	p->deflate = level ? libdeflate_alloc_compressor(level) : NULL;
	if (p->deflate) {
		p->cap_packed = libdeflate_zlib_compress_bound(p->deflate, BLOCK_BYTES);
		p->tasks = ct_tasks_new(threads < 2 ? threads : 2);
	}
	if ((!level || p->deflate) && make_block(p, &p->blocks[0]) == CT_OK &&
	    make_block(p, &p->blocks[1]) == CT_OK)
		return p;
	ct_perfetto_free(p);
	return NULL;
}

void ct_perfetto_free(struct ct_perfetto *p)
{
	if (!p)
		return;
	if (p->deflated)
		ct_task_end(p->tasks, &p->deflated->task);
	ct_tasks_free(p->tasks);
	libdeflate_free_compressor(p->deflate);
	ct_packet_fini(&p->packet);
	for (unsigned b = 0; b < 2; b++) {
		free(p->blocks[b].bytes);
		free(p->blocks[b].packed);
	}
	free(p->sent);
	free(p->left);
	free(p);
}

/* ---- blocks ---- */

static int write_out(struct ct_perfetto *p, const void *bytes, size_t len)
{
	p->size.bytes += len;
	return fwrite(bytes, 1, len, p->out) == len ? CT_OK : CT_IO;
}

/* The block that is being deflated, once it is. */
static int write_deflated(struct ct_perfetto *p)
{
	struct perfetto_block *block = p->deflated;
	uint8_t head[32], *at = head;
	size_t inner, len;
	int st;

	if (!block)
		return CT_OK;
	p->deflated = NULL;
	st = ct_task_end(p->tasks, &block->task);
	len = block->packed_len;
	block->used = 0;
	if (st != CT_OK)
		return st;
	/* packet { compressed_packets } */
	at = ct_append_varint(ct_append_key(head, CT_PF_COMPRESSED, CT_WIRE_BYTES), len);
	inner = (size_t)(at - head) + len;
	at = ct_append_varint(ct_append_key(head, CT_PF_PACKET, CT_WIRE_BYTES), inner);
	at = ct_append_varint(ct_append_key(at, CT_PF_COMPRESSED, CT_WIRE_BYTES), len);
	st = write_out(p, head, (size_t)(at - head));
	return st == CT_OK ? write_out(p, block->packed, len) : st;
}

static int flush(struct ct_perfetto *p)
{
	struct perfetto_block *block = p->filled;
	int st;

	p->size.raw_bytes += block->used;
	if (p->size.raw_bytes > CT_PERFETTO_MAX_BYTES)
		return CT_FULL;
	if (!block->used)
		return CT_OK;
	if (!p->deflate) {
		st = write_out(p, block->bytes, block->used);
		block->used = 0;
		return st;
	}
	st = write_deflated(p);
	if (st != CT_OK)
		return st;
	p->deflated = block;
	p->filled = &p->blocks[block == p->blocks];
	ct_task_begin(p->tasks, &block->task);
	return CT_OK;
}

/* Where the next packet goes; NULL after a failure in *st. */
static uint8_t *room(struct ct_perfetto *p, size_t len, int *st)
{
	*st = len > BLOCK_BYTES ? CT_RANGE : p->filled->used + len > BLOCK_BYTES ? flush(p) : CT_OK;
	return *st == CT_OK ? p->filled->bytes + p->filled->used : NULL;
}

static void wrote(struct ct_perfetto *p, const uint8_t *end)
{
	p->filled->used = (size_t)(end - p->filled->bytes);
}

/* What protobuf-c packed. */
static int put_packet(struct ct_perfetto *p, int st)
{
	uint8_t *at = st == CT_OK ? room(p, p->packet.len, &st) : NULL;

	if (!at)
		return st;
	memcpy(at, p->packet.bytes, p->packet.len);
	wrote(p, at + p->packet.len);
	return CT_OK;
}

/* ---- interned texts ---- */

static int intern_text(struct ct_perfetto *p, enum ct_interned kind, uint32_t text)
{
	int st = ct_grow_zeroed(&p->sent, &p->cap_sent, text + 1, sizeof(*p->sent));

	if (st != CT_OK || p->sent[text] & 1u << kind)
		return st;
	p->sent[text] |= (uint8_t)(1u << kind);
	return put_packet(p,
			  ct_packet_intern(&p->packet, kind, text, ct_texts_get(p->texts, text)));
}

static int intern_all(struct ct_perfetto *p, const struct ct_timeline_slice *slice)
{
	int st = intern_text(p, CT_INTERNED_NAME, slice->name);

	for (unsigned i = 0; i < slice->n_args && st == CT_OK; i++) {
		const struct ct_timeline_arg *arg = &slice->args[i];

		if (arg->type == CT_VALUE_TEXT)
			st = intern_text(p, CT_INTERNED_VALUE, arg->text);
		for (unsigned k = 0; arg->type == CT_VALUE_PARTS && k < arg->n && st == CT_OK; k++)
			st = intern_text(p, CT_INTERNED_VALUE, arg->parts[k].op);
	}
	return st;
}

/* ---- order on a track ---- */

static void complain(struct ct_perfetto *p, const char *what, uint64_t at_ns)
{
	if (!p->wrong++)
		snprintf(p->first_wrong, sizeof(p->first_wrong),
			 "track %" PRIu32 " at %" PRIu64 " ns: %s", p->track, at_ns, what);
}

/* End the open slices of the track that are not around a slice of this depth. */
static int close_to(struct ct_perfetto *p, uint32_t depth, int leaving)
{
	int st = CT_OK;

	while (p->depth > depth && st == CT_OK) {
		uint64_t end = p->ends[--p->depth];
		uint8_t *at;

		p->instants = 0;
		if (end == CT_TIMELINE_OPEN) {
			if (!leaving)
				complain(p, "a slice follows one that did not end", p->reached_ns);
			continue;
		}
		if (end < p->reached_ns)
			complain(p, "a slice ends before what lies in it", end);
		p->reached_ns = end;
		at = room(p, CT_EVENT_MAX, &st);
		if (at)
			wrote(p, ct_event_end(at, p->track, end));
	}
	return st;
}

static int enter_track(struct ct_perfetto *p, uint32_t track)
{
	int st;

	if (track == p->track)
		return CT_OK;
	st = close_to(p, 0, 1);
	st = st ?: ct_grow_zeroed(&p->left, &p->cap_left, track / 8 + 1, sizeof(*p->left));
	if (st != CT_OK)
		return st;
	p->track = track;
	p->reached_ns = 0;
	p->instants = 0;
	if (p->left[track / 8] & 1u << track % 8)
		complain(p, "the track was left already", 0);
	p->left[track / 8] |= (uint8_t)(1u << track % 8);
	return CT_OK;
}

static void check_slice(struct ct_perfetto *p, const struct ct_timeline_slice *s)
{
	if (s->begin_ns != p->instant_ns)
		p->instants = 0;
	if (s->instant ? s->depth != p->depth + p->instants : s->depth != p->depth)
		complain(p, "a slice has no parent", s->begin_ns);
	if (!s->instant && p->instants)
		complain(p, "a slice begins at an instant that does not lie in it", s->begin_ns);
	if (s->begin_ns < p->reached_ns)
		complain(p, "a slice begins before its elder sibling ended", s->begin_ns);
	if (s->end_ns < s->begin_ns)
		complain(p, "a slice ends before it begins", s->begin_ns);
	if (p->depth && s->end_ns > p->ends[p->depth - 1])
		complain(p, "a slice ends after the one around it", s->begin_ns);
}

/* ---- the sink ---- */

static int on_begin(void *arg, const struct ct_texts *texts, uint64_t begin_unix_ns,
		    const struct ct_timeline_fact *facts, size_t n)
{
	struct ct_perfetto *p = arg;
	int st;

	p->texts = texts;
	st = put_packet(p, ct_packet_clock(&p->packet, begin_unix_ns));
	st = st ?: put_packet(p, ct_packet_facts(&p->packet, facts, n));
	return st == CT_OK ? put_packet(p, ct_packet_first(&p->packet)) : st;
}

static int on_track(void *arg, const struct ct_timeline_track *track)
{
	struct ct_perfetto *p = arg;

	return put_packet(p, ct_packet_track(&p->packet, track));
}

static int on_slice(void *arg, const struct ct_timeline_slice *slice)
{
	struct ct_perfetto *p = arg;
	int st = enter_track(p, slice->track);
	uint8_t *at;

	st = st ?: close_to(p, slice->depth, 0);
	st = st ?: intern_all(p, slice);
	if (st != CT_OK)
		return st;
	check_slice(p, slice);
	at = room(p, CT_EVENT_MAX, &st);
	if (!at)
		return st;
	wrote(p, ct_event_begin(at, p->texts, slice));
	p->reached_ns = slice->begin_ns > p->reached_ns ? slice->begin_ns : p->reached_ns;
	if (slice->instant) {
		p->instant_ns = slice->begin_ns;
		p->instants++;
	} else if (p->depth < MAX_DEPTH) {
		p->ends[p->depth++] = slice->end_ns;
		p->instants = 0;
	}
	return CT_OK;
}

static int on_counter(void *arg, uint32_t track, uint64_t at_ns, double gbps)
{
	struct ct_perfetto *p = arg;
	int st = enter_track(p, track);
	uint8_t *at = st == CT_OK ? room(p, CT_EVENT_MAX, &st) : NULL;

	if (!at)
		return st;
	if (at_ns < p->reached_ns)
		complain(p, "a value comes before the one that was written before it", at_ns);
	p->reached_ns = at_ns;
	wrote(p, ct_event_counter(at, track, at_ns, gbps));
	return CT_OK;
}

static int on_end(void *arg)
{
	struct ct_perfetto *p = arg;
	int st = close_to(p, 0, 1);

	st = st ?: flush(p);
	return st ?: write_deflated(p);
}

struct ct_timeline_sink ct_perfetto_sink(struct ct_perfetto *perfetto)
{
	return (struct ct_timeline_sink){ .begin = on_begin,
					  .track = on_track,
					  .slice = on_slice,
					  .counter = on_counter,
					  .end = on_end,
					  .arg = perfetto };
}

int ct_perfetto_check(const struct ct_perfetto *p, struct ct_perfetto_size *size,
		      struct ct_err *err)
{
	*size = p->size;
	if (!p->wrong)
		return CT_OK;
	return ct_fail(err, CT_RANGE,
		       "internal error: %" PRIu64 " slices do not nest; the first: %s", p->wrong,
		       p->first_wrong);
}
