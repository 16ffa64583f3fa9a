/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/block_columns.h"

#include <stdlib.h>
#include <sys/mman.h>
#define ZSTD_STATIC_LINKING_ONLY /* literals are coded also where no match is looked for */
#include <zstd.h>

#include "trace/pages.h"
#include "trace/status.h"

#define HEAD 64u /* code: before what zstd gets, its length; zstd aligns to no more */

/* zstd asks for what the worst input of a size takes. Of pages of its own only those count that it
 * uses. */
static void *take_pages(void *unused, size_t bytes)
{
	size_t *head;

	(void)unused;
	head = ct_pages_map(bytes + HEAD);
	if (!head)
		return NULL;
	*head = bytes + HEAD;
	return (char *)head + HEAD;
}

static void give_pages(void *unused, void *pages)
{
	size_t *head = (size_t *)(void *)((char *)pages - HEAD);

	(void)unused;
	if (pages)
		munmap(head, *head);
}

int ct_block_columns_init(struct ct_block_columns *c)
{
	c->zstd = ZSTD_createCCtx_advanced(
		(ZSTD_customMem){ .customAlloc = take_pages, .customFree = give_pages });
	if (!c->zstd)
		return CT_NOMEM;
	/* level 1: 3 costs twice the time and saves less than 1.5 % on columns */
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_compressionLevel, 1);
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_literalCompressionMode, ZSTD_ps_enable);
	return CT_OK;
}

void ct_block_columns_fini(struct ct_block_columns *c)
{
	for (int i = 0; i < CT_N_COLUMNS; i++)
		free(c->all[i].start);
	free(c->raw);
	free(c->out);
	ZSTD_freeCCtx(c->zstd);
	memset(c, 0, sizeof(*c));
}

static int ensure(uint8_t **p, size_t *cap, size_t want)
{
	if (*cap >= want)
		return CT_OK;
	free(*p);
	*p = malloc(want);
	*cap = *p ? want : 0;
	return *p ? CT_OK : CT_NOMEM;
}

int ct_block_column_open(struct ct_block_columns *columns, enum ct_column id, size_t worst_bytes)
{
	struct ct_column_bytes *c = &columns->all[id];
	int st = ensure(&c->start, &c->cap, worst_bytes + 8);

	c->p = c->start;
	return st;
}

/* How a column is compressed: by matches and entropy; or by entropy alone, where no string repeats
 * (class bytes, and noise). */
enum way { BY_MATCHES, BY_ENTROPY, AS_IT_IS };

static enum way way_of(int id)
{
	switch (id) {
	case CT_COL_OP_ENTER:
	case CT_COL_OP_DURATION:
	case CT_COL_LAUNCH_START:
	case CT_COL_LAUNCH_DURATION:
	case CT_COL_RARE_TIME:
	case CT_COL_RARE_LATER:
	case CT_COL_RARE_REACH:
		return BY_ENTROPY;
	case CT_COL_BITS:
	case CT_COL_RARE_BITS:
		return AS_IT_IS;
	default:
		return BY_MATCHES;
	}
}

/* size: below this a frame of its own costs more than its code table saves. */
#define OWN_FRAME_BYTES 512u

static size_t held(const struct ct_block_columns *c, int id)
{
	return (size_t)(c->all[id].p - c->all[id].start);
}

/* Class bytes, noise, and sizes that do not repeat: they have codes of their own. */
static int is_apart(const struct ct_block_columns *c, int id)
{
	return (way_of(id) != BY_MATCHES || id == CT_COL_OP_COUNT) &&
	       held(c, id) >= OWN_FRAME_BYTES;
}

static uint8_t *join_column(const struct ct_block_columns *c, int id, uint8_t *p)
{
	size_t len = held(c, id);

	if (!len)
		return p;
	*p++ = (uint8_t)id;
	p = ct_put_varint(p, len);
	memcpy(p, c->all[id].start, len);
	return p + len;
}

/* A frame of raw blocks: noise, which zstd would look at for long and store as well (RFC 8878). */
static size_t store(uint8_t *out, const uint8_t *from, size_t len)
{
	uint8_t *p = out;
	uint32_t word = htole32(ZSTD_MAGICNUMBER);

	memcpy(p, &word, sizeof(word));
	p[4] = 2 << 6 | 1 << 5; /* the content's size has four bytes, and is the window's */
	word = htole32((uint32_t)len);
	memcpy(p + 5, &word, sizeof(word));
	p += 9;
	while (len) {
		size_t n = len < ZSTD_BLOCKSIZE_MAX ? len : ZSTD_BLOCKSIZE_MAX;
		uint32_t head = htole32((uint32_t)n << 3 | (n == len));

		memcpy(p, &head, 3);
		memcpy(p + 3, from, n);
		p += 3 + n;
		from += n;
		len -= n;
	}
	return (size_t)(p - out);
}

static int compress(struct ct_block_columns *c, enum way way, const uint8_t *from,
		    const uint8_t *to, size_t *at)
{
	size_t n;

	if (from == to)
		return CT_OK;
	if (way == AS_IT_IS) {
		*at += store(c->out + *at, from, (size_t)(to - from));
		return CT_OK;
	}
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_targetLength,
			       way == BY_ENTROPY ? ZSTD_TARGETLENGTH_MAX : 0);
	ZSTD_CCtx_setParameter(c->zstd, ZSTD_c_hashLog, way == BY_ENTROPY ? ZSTD_HASHLOG_MIN : 0);
	n = ZSTD_compress2(c->zstd, c->out + *at, c->out_cap - *at, from, (size_t)(to - from));
	if (ZSTD_isError(n))
		return CT_NOMEM;
	*at += n;
	return CT_OK;
}

/* All columns that hold anything, as frames behind each other: one of all that repeat and all that
 * are short, then one of each other column, which has a code table of its own. */
int ct_block_columns_compress(struct ct_block_columns *c, size_t header_bytes, size_t *raw_bytes,
			      size_t *frame_bytes)
{
	size_t total = 0, at = header_bytes;
	uint8_t *p, *from;
	int st;

	for (int i = 1; i < CT_N_COLUMNS; i++)
		total += 11 + held(c, i);
	if (total > CT_BLOCK_MAX_RAW)
		return CT_RANGE;
	if (ensure(&c->raw, &c->raw_cap, total) != CT_OK ||
	    ensure(&c->out, &c->out_cap,
		   header_bytes + ZSTD_compressBound(total) + CT_N_COLUMNS * 32) != CT_OK)
		return CT_NOMEM;
	p = c->raw;
	for (int i = 1; i < CT_N_COLUMNS; i++)
		if (!is_apart(c, i))
			p = join_column(c, i, p);
	st = compress(c, BY_MATCHES, c->raw, p, &at);
	for (int i = 1; i < CT_N_COLUMNS && st == CT_OK; i++) {
		if (!is_apart(c, i))
			continue;
		from = p;
		p = join_column(c, i, p);
		st = compress(c, way_of(i), from, p, &at);
	}
	*raw_bytes = (size_t)(p - c->raw);
	*frame_bytes = at - header_bytes;
	return st;
}
