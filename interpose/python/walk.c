/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/python.h"

#include "interpose/python/text.h"

/* A pointer at an offset, to where something can be. */
static int read_pointer(ct_python_read read, uintptr_t from, uintptr_t *to)
{
	if (read(from, to, sizeof(*to)) != 0)
		return -1;
	return *to & CT_PYTHON_TAGS ? -1 : 0;
}

void ct_python_first(const struct ct_python *py, ct_python_read read, uintptr_t state,
		     struct ct_python_cursor *cursor)
{
	uintptr_t at = state;

	*cursor = (struct ct_python_cursor){ 0, 0 };
	if (!state)
		return;
	if (py->at.thread_cframe != CT_PYTHON_NOT_THERE &&
	    (read_pointer(read, state + py->at.thread_cframe, &at) != 0 || !at))
		return;
	if (read_pointer(read, at + py->at.thread_frame, &cursor->frame) != 0)
		cursor->frame = 0;
}

/* Where in its code a frame is, in bytes; -1: not known. */
static int64_t offset_in_code(const struct ct_python *py, ct_python_read read, uintptr_t frame,
			      uintptr_t code)
{
	uintptr_t instr, begin = code + py->at.code_code;
	int32_t last;

	if (py->at.code_code != CT_PYTHON_NOT_THERE) {
		if (read(frame + py->at.frame_instr, &instr, sizeof(instr)) != 0 || instr < begin)
			return -1;
		return (int64_t)(instr - begin);
	}
	if (read(frame + py->at.frame_instr, &last, sizeof(last)) != 0)
		return -1;
	/* 3.10 counts instructions of two bytes */
	return py->version >> 16 == 0x030a ? (int64_t)last * 2 : last;
}

static int is_code(const struct ct_python *py, ct_python_read read, uintptr_t object)
{
	uintptr_t type;

	return read(object + py->at.object_type, &type, sizeof(type)) == 0 &&
	       (!py->code_type || type == py->code_type);
}

static int describe(const struct ct_python *py, ct_python_read read, uintptr_t at, uintptr_t code,
		    struct ct_python_frame *frame)
{
	uintptr_t file, name;

	if (!is_code(py, read, code) || read_pointer(read, code + py->at.code_file, &file) != 0 ||
	    read_pointer(read, code + py->at.code_name, &name) != 0 ||
	    ct_python_text(py, read, file, frame->file, sizeof(frame->file), CT_PYTHON_KEEP_END) !=
		    0 ||
	    ct_python_text(py, read, name, frame->func, sizeof(frame->func),
			   CT_PYTHON_KEEP_FRONT) != 0)
		return -1;
	frame->line = ct_python_line(py, read, code, offset_in_code(py, read, at, code));
	return 1;
}

int ct_python_next(const struct ct_python *py, ct_python_read read, struct ct_python_cursor *cursor,
		   struct ct_python_frame *frame)
{
	while (cursor->frame && cursor->steps++ < CT_PYTHON_STEPS) {
		uintptr_t at = cursor->frame, code;
		unsigned char owner = 0;

		cursor->frame = 0;
		if ((py->at.frame_owner != CT_PYTHON_NOT_THERE &&
		     read(at + py->at.frame_owner, &owner, 1) != 0) ||
		    read(at + py->at.frame_code, &code, sizeof(code)) != 0 ||
		    read_pointer(read, at + py->at.frame_previous, &cursor->frame) != 0)
			return -1;
		if (owner >= CT_PYTHON_OWNER_INTERPRETER)
			continue;
		return describe(py, read, at, code & ~(uintptr_t)CT_PYTHON_TAGS, frame);
	}
	return 0;
}
