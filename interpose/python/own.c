/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/python/own.h"

#include <stdatomic.h>
#include <string.h>

#include "interpose/clear.h"
#include "interpose/python/text.h"
#include "interpose/site_table.h"

/* size: beyond so many, frames are those of the program's frame, not of the call. */
#define MOST_FRAMES 96u
/* size: code objects whose class is remembered, a power of two. A step passes some hundred. */
#define CODES 4096u

enum class { UNKNOWN, OWN, PASSED, CLASSES };

/* What is known of a code object: its key with the class in the lowest bits. A new one takes the
 * slot of an old one. */
static _Atomic uint64_t codes[CODES];

void ct_python_own_clear(void)
{
	ct_clear(codes, sizeof(codes));
}

/* Parts of a file's name, after the last "-packages" that it has: torch, where it is installed and
 * where it is built from source. */
int ct_python_passes_over(const char *file)
{
	static const char *const inside[] = { "distributed/", "nn/",	 "autograd/",  "optim/",
					      "utils/",	      "fx/",	 "_dynamo/",   "_inductor/",
					      "_functorch/",  "cuda/",	 "amp/",       "cpu/",
					      "_tensor.py",   "_ops.py", "_compile.py" };
	const char *torch = strstr(file, "-packages/torch/"), *slash = strrchr(file, '/');

	if (torch || strncmp(file, "<frozen ", 8) == 0)
		return 1;
	if (slash && (strcmp(slash, "/contextlib.py") == 0 || strcmp(slash, "/functools.py") == 0))
		return 1;
	torch = strstr(file, "/torch/");
	for (size_t i = 0; torch && i < sizeof(inside) / sizeof(inside[0]); i++)
		if (strncmp(torch + 7, inside[i], strlen(inside[i])) == 0)
			return 1;
	return 0;
}

static inline uintptr_t load(uintptr_t from)
{
	return *(const uintptr_t *)from;
}

static inline uint64_t key_of(const struct ct_python *py, uintptr_t code)
{
	uint64_t key = ct_site_mix(code, load(code + py->at.code_file));

	key = ct_site_mix(key, load(code + py->at.code_name));
	return ct_site_mix(key, *(const uint32_t *)(code + py->at.code_first)) & ~(uint64_t)CLASSES;
}
_Static_assert(CLASSES == 3, "two bits of a key");

/* Its file is read through the kernel: if it is not a code object, nothing happens. */
static __attribute__((noinline)) enum class classify(const struct ct_python *py, uintptr_t code,
						     uint64_t key) {
	enum class class = OWN; uintptr_t file = 0; char name[256];

	if (ct_python_read_safely(code + py->at.code_file, &file, sizeof(file)) == 0 &&
	    ct_python_text(py, ct_python_read_safely, file, name, sizeof(name),
			   CT_PYTHON_KEEP_END) == 0 &&
	    ct_python_passes_over(name)) class
	= PASSED;
	atomic_store_explicit(&codes[key / 4 % CODES], key | class, memory_order_relaxed);
	return class;
}

static inline enum class class_of(const struct ct_python *py, uintptr_t code, uint64_t key) {
	uint64_t held = atomic_load_explicit(&codes[key / 4 % CODES], memory_order_relaxed);

	if (__builtin_expect((held & ~(uint64_t)CLASSES) == key && held & CLASSES,
			     1)) return (enum class)(held & CLASSES);
	return classify(py, code, key);
}

static inline uint64_t instruction_of(const struct ct_python *py, uintptr_t frame)
{
	return py->at.code_code != CT_PYTHON_NOT_THERE
		       ? load(frame + py->at.frame_instr)
		       : *(const uint32_t *)(frame + py->at.frame_instr);
}

/* The innermost frame, or the one that `frame` was called from, that is not a frame of the
 * interpreter's own. */
static inline uintptr_t settle(const struct ct_python *py, uintptr_t frame)
{
	while (frame && py->at.frame_owner != CT_PYTHON_NOT_THERE &&
	       *(const unsigned char *)(frame + py->at.frame_owner) >= CT_PYTHON_OWNER_INTERPRETER)
		frame = load(frame + py->at.frame_previous);
	return frame;
}

/* Code that is compiled repeatedly may get the address of earlier code, with the same names: the
 * length and both ends of its line table distinguish it. */
static inline uint64_t lines_of(const struct ct_python *py, uintptr_t code, uint64_t key)
{
	uintptr_t table = load(code + py->at.code_lines), data = table + py->at.bytes_data;
	uint64_t bytes = load(table + py->at.bytes_size), ends[2] = { 0, 0 };

	if (bytes >= sizeof(ends[0])) {
		memcpy(&ends[0], (const void *)data, sizeof(ends[0]));
		memcpy(&ends[1], (const void *)(data + bytes - sizeof(ends[1])), sizeof(ends[1]));
	} else {
		memcpy(&ends[0], (const void *)data, bytes);
	}
	key = ct_site_mix(key, table ^ bytes << 48);
	return ct_site_mix(ct_site_mix(key, ends[0]), ends[1]);
}

static void add(const struct ct_python *py, struct ct_python_own *own, uintptr_t frame,
		uintptr_t code, uint64_t code_key)
{
	own->key = ct_site_mix(own->key, lines_of(py, code, code_key));
	own->key = ct_site_mix(own->key, instruction_of(py, frame));
	own->frames[own->n++] = frame;
}

static uintptr_t innermost(const struct ct_python *py, uintptr_t state)
{
	uintptr_t at = state;

	if (py->at.thread_cframe != CT_PYTHON_NOT_THERE)
		at = load(state + py->at.thread_cframe);
	return at ? settle(py, load(at + py->at.thread_frame)) : 0;
}

int ct_python_own(const struct ct_python *py, uintptr_t state, struct ct_python_own *own)
{
	uintptr_t first = state ? innermost(py, state) : 0, frame = first;

	*own = (struct ct_python_own){ .key = 1 };
	for (uint32_t i = 0; frame && i < MOST_FRAMES && own->n < CT_PYTHON_OWN_FRAMES; i++) {
		uintptr_t code = load(frame + py->at.frame_code) & ~(uintptr_t)CT_PYTHON_TAGS;
		uint64_t key = key_of(py, code);

		if (class_of(py, code, key) == OWN)
			add(py, own, frame, code, key);
		frame = settle(py, load(frame + py->at.frame_previous));
	}
	/* all of them only forward calls: a thread of the library's own */
	frame = own->n ? 0 : first;
	while (frame && own->n < CT_PYTHON_OWN_FRAMES) {
		uintptr_t code = load(frame + py->at.frame_code) & ~(uintptr_t)CT_PYTHON_TAGS;

		add(py, own, frame, code, key_of(py, code));
		frame = settle(py, load(frame + py->at.frame_previous));
	}
	own->key += own->key == 0;
	return own->n > 0;
}

int ct_python_own_check(const struct ct_python *py, uintptr_t state)
{
	struct ct_python_cursor cursor;
	struct ct_python_frame frame;
	int more, n = 0;

	ct_python_first(py, ct_python_read_safely, state, &cursor);
	while ((more = ct_python_next(py, ct_python_read_safely, &cursor, &frame)) > 0)
		n++;
	if (more < 0 || cursor.frame) /* cannot be read, or does not end */
		return -1;
	return n > 0;
}
