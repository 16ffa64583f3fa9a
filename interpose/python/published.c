/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/published.h"

#include <string.h>

/* What is read, in the order in which it is reported. */
enum structure { RUNTIME, INTERP, THREAD, FRAME, CODE, OBJECT, STRUCTURES };

/* Words of each structure, its size included. */
static const struct publication {
	uint32_t version; /* as 0x030d */
	uint8_t words[STRUCTURES];
} publications[] = {
	{ 0x030d, { 3, 13, 9, 6, 10, 2 } },
	{ 0x030e, { 3, 16, 9, 8, 11, 2 } },
};

/* Which word of its structure a field is. */
static const struct layout_field {
	uint8_t structure, word;
	uint16_t field; /* of struct ct_python_layout */
} layout_fields[] = {
#define AT(structure, word, field)                                                                 \
	{                                                                                          \
		structure, word, offsetof(struct ct_python_layout, field)                          \
	}
	AT(RUNTIME, 2, runtime_interpreters),
	AT(INTERP, 2, interp_next),
	AT(INTERP, 3, interp_threads),
	AT(THREAD, 2, thread_next),
	AT(THREAD, 4, thread_frame),
	AT(THREAD, 5, thread_pthread),
	AT(THREAD, 6, thread_tid),
	AT(FRAME, 1, frame_previous),
	AT(FRAME, 2, frame_code),
	AT(FRAME, 3, frame_instr),
	AT(FRAME, 5, frame_owner),
	AT(CODE, 1, code_file),
	AT(CODE, 3, code_name),
	AT(CODE, 4, code_lines),
	AT(CODE, 5, code_first),
	AT(CODE, 9, code_code),
	AT(OBJECT, 1, object_type),
#undef AT
};

#define HEAD 3u	       /* fact: words before the structures: a mark, a version, free-threaded */
#define MOST_WORDS 64u /* size: the last one that is read is before it */
#define MOST_BYTES (16u << 20) /* size: of one structure; a larger number is not a size */

static const struct publication *publication_of(uint64_t version)
{
	for (size_t i = 0; i < sizeof(publications) / sizeof(publications[0]); i++)
		if (version >> 16 == publications[i].version)
			return &publications[i];
	return NULL;
}

/* Bytes and text begin with an object of their own and a length; their layout has not changed
 * since 3.12. */
static void fill_objects(struct ct_python_layout *at)
{
	uint32_t head = at->object_type + 8;

	at->thread_cframe = CT_PYTHON_NOT_THERE;
	at->bytes_size = head;
	at->bytes_data = head + 16;
	at->text_size = head;
	at->text_state = head + 16;
	at->text_ascii = head + 24;
	at->text_other = head + 40;
}

int ct_python_published(struct ct_python *py, ct_python_read read)
{
	uint64_t words[MOST_WORDS];
	const struct publication *p;
	uint32_t begin[STRUCTURES], at = HEAD;

	if (read(py->runtime, words, sizeof(words)) != 0 || memcmp(words, "xdebugpy", 8) != 0)
		return -1;
	py->version = (uint32_t)words[1];
	py->free_threaded = words[2] != 0;
	p = words[1] >> 32 ? NULL : publication_of(words[1]);
	if (!p)
		return -1;
	for (int s = 0; s < STRUCTURES; at += p->words[s++])
		begin[s] = at;
	for (size_t i = 0; i < sizeof(layout_fields) / sizeof(layout_fields[0]); i++) {
		const uint64_t *structure = &words[begin[layout_fields[i].structure]];
		uint64_t offset = structure[layout_fields[i].word];

		if (structure[0] > MOST_BYTES || offset >= structure[0])
			return -1;
		memcpy((char *)&py->at + layout_fields[i].field, &(uint32_t){ (uint32_t)offset },
		       sizeof(uint32_t));
	}
	fill_objects(&py->at);
	return 0;
}
