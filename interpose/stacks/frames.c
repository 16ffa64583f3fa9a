/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/frames.h"

#include <string.h>

/* size: characters. Names of C++ are longer; their beginnings distinguish them, as do the ends of
 * files. */
#define MOST_FUNCTION 191u
#define MOST_FILE 191u

void ct_frames_begin(struct ct_frames *f, uint8_t *bytes, size_t room)
{
	memset(&f->head, 0, sizeof(f->head));
	f->bytes = bytes;
	f->room = room;
	f->used = sizeof(f->head);
}

int ct_frames_add(struct ct_frames *f, const struct ct_stack_frame *frame, const char *function,
		  const char *file)
{
	size_t n_function = strnlen(function, MOST_FUNCTION), n_file = strlen(file);

	if (n_file > MOST_FILE) {
		file += n_file - MOST_FILE;
		n_file = MOST_FILE;
	}
	if (f->room - f->used < sizeof(*frame) + n_function + n_file + 2)
		return -1;
	memcpy(f->bytes + f->used, frame, sizeof(*frame));
	f->used += sizeof(*frame);
	memcpy(f->bytes + f->used, function, n_function);
	f->used += n_function;
	f->bytes[f->used++] = '\0';
	memcpy(f->bytes + f->used, file, n_file + 1);
	f->used += n_file;
	f->bytes[f->used++] = '\0';
	f->head.n_frames++;
	return 0;
}

size_t ct_frames_end(struct ct_frames *f)
{
	memcpy(f->bytes, &f->head, sizeof(f->head));
	return f->used;
}
