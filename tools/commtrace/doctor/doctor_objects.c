/* SPDX-License-Identifier: Apache-2.0 */
/* What a library or program has in it that passes the tracer unseen, by the marks of
 * trace/invisible_marks.def. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tools/commtrace/doctor/doctor.h"
#include "tools/commtrace/doctor/doctor_backends.h"
#include "tools/commtrace/doctor/doctor_elf.h"
#include "trace/path.h"

#define CALL "ncclAllReduce"
#define GLOO_CALL "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"
/* A table of virtual functions refers to it, in every copy of Gloo. */
#define GLOO_VIRTUAL "_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm"
#define GLOO_TABLE "_ZTVN4gloo9transport3tcp13UnboundBufferE"
#define MPI_CALL "MPI_Finalize"

enum mark_kind { FILE_NAME, IMPORTS, EXPORTS, CONTAINS };

static const struct object_mark {
	enum ct_doctor_id id;
	enum mark_kind kind;
	const char *text;
} marks[] = {
#define FILE FILE_NAME
#define CT_MARK(ID, KIND, TEXT) { CT_DOCTOR_##ID, KIND, TEXT },
#include "trace/invisible_marks.def"
#undef FILE
};

static const struct {
	enum ct_doctor_id id;
	const char *text;
} exceptions[] = {
#define CT_MARK_EXCEPT(ID, TEXT) { CT_DOCTOR_##ID, TEXT },
#include "trace/invisible_marks.def"
};

#define N(list) (sizeof(list) / sizeof((list)[0]))

/* What was checked. */
static struct {
	struct seen {
		dev_t dev;
		ino_t ino;
	} * seen;
	size_t n_seen;
} all;

static int begins_with(const char *name, const char *text)
{
	return strncmp(name, text, strlen(text)) == 0;
}

static int is_excepted(enum ct_doctor_id id, const char *name)
{
	for (size_t i = 0; i < N(exceptions); i++)
		if (exceptions[i].id == id && begins_with(name, exceptions[i].text))
			return 1;
	return 0;
}

/* 1: for the first time. */
static int is_new(const char *path)
{
	struct seen *grown;
	struct stat st;

	if (stat(path, &st) != 0)
		return 0;
	for (size_t i = 0; i < all.n_seen; i++)
		if (all.seen[i].dev == st.st_dev && all.seen[i].ino == st.st_ino)
			return 0;
	grown = reallocarray(all.seen, all.n_seen + 1, sizeof(*grown));
	if (!grown)
		return 0;
	all.seen = grown;
	all.seen[all.n_seen++] = (struct seen){ st.st_dev, st.st_ino };
	return 1;
}

/* Not worth their hundreds of megabytes. */
static int is_of_the_system(const char *name)
{
	static const char *const names[] = { "libc.so",	  "libm.so",	  "ld-linux",
					     "libstdc++", "libgcc_s",	  "libcu",
					     "libnv",	  "libcommtrace", "libpthread" };

	for (size_t i = 0; i < N(names); i++)
		if (begins_with(name, names[i]))
			return 1;
	return 0;
}

static int imports_cudart(const struct ct_doctor_elf *file)
{
	return ct_elf_has(file, "cudaLaunchKernel") == CT_ELF_IMPORTS ||
	       ct_elf_has(file, "cudaStreamSynchronize") == CT_ELF_IMPORTS ||
	       ct_elf_has(file, "cudaMalloc") == CT_ELF_IMPORTS;
}

/* Is it worth while to read all of its data for this mark? */
static int may_contain(const struct ct_doctor_elf *file, enum ct_doctor_id id, const char *name,
		       int is_program, enum ct_elf_has nccl)
{
	if (is_of_the_system(name))
		return 0;
	if (id == CT_DOCTOR_GLOO_HIDDEN)
		return ct_elf_has(file, GLOO_CALL) == CT_ELF_HAS_NOT &&
		       ct_elf_has(file, GLOO_VIRTUAL) == CT_ELF_HAS_NOT &&
		       ct_elf_has(file, "epoll_wait") == CT_ELF_IMPORTS &&
		       ct_elf_has(file, "getifaddrs") == CT_ELF_IMPORTS;
	if (id == CT_DOCTOR_CUDART_STATIC)
		return (is_program || nccl == CT_ELF_IMPORTS) && !imports_cudart(file);
	if (id == CT_DOCTOR_MPI_STATIC)
		return is_program && ct_elf_has(file, MPI_CALL) == CT_ELF_HAS_NOT;
	return nccl == CT_ELF_HAS_NOT;
}

static int has_mark(const struct ct_doctor_elf *file, const struct object_mark *mark,
		    const char *name, int is_program, enum ct_elf_has nccl)
{
	switch (mark->kind) {
	case FILE_NAME:
		return begins_with(name, mark->text);
	case IMPORTS:
		return ct_elf_has(file, mark->text) == CT_ELF_IMPORTS;
	case EXPORTS:
		return ct_elf_has(file, mark->text) == CT_ELF_EXPORTS;
	default:
		return may_contain(file, mark->id, name, is_program, nccl) &&
		       ct_elf_contains(file, mark->text);
	}
}

/* It defines NCCL's functions. As the library, or has it swallowed one? */
static void look_at_definition(struct ct_doctor *d, const struct ct_doctor_elf *file,
			       const char *path, int is_program)
{
	if (is_program)
		ct_doctor_add_invisible(d, CT_DOCTOR_NCCL_HIDDEN, CT_DOCTOR_PART, path);
	else if (!begins_with(file->soname, "libnccl") &&
		 (file->is_symbolic || !ct_elf_relocates(file, CALL)))
		ct_doctor_add_invisible(d, CT_DOCTOR_NCCL_SYMBOLIC, CT_DOCTOR_PART, path);
	else
		ct_doctor_backends_copy(CT_DOCTOR_NCCL, path);
}

/* It has a copy of Gloo: do that one's own calls come to the loader? */
static void look_at_gloo(struct ct_doctor *d, const struct ct_doctor_elf *file, const char *path,
			 int is_program)
{
	if (ct_elf_has(file, GLOO_VIRTUAL) == CT_ELF_EXPORTS &&
	    ct_elf_has(file, GLOO_TABLE) == CT_ELF_EXPORTS &&
	    (is_program || file->is_symbolic || !ct_elf_relocates(file, GLOO_VIRTUAL)))
		ct_doctor_add_invisible(d, CT_DOCTOR_GLOO_SYMBOLIC, CT_DOCTOR_PART, path);
	else if (ct_elf_has(file, GLOO_CALL) == CT_ELF_EXPORTS)
		ct_doctor_backends_copy(CT_DOCTOR_GLOO, path);
}

/* A runtime of AddressSanitizer that is a library ends its program where another one was loaded
 * before it. */
static void look_at_sanitizers(struct ct_doctor *d, const struct ct_doctor_elf *file,
			       const char *path)
{
	const char *options = getenv("ASAN_OPTIONS"), *preload = getenv("LD_PRELOAD");
	int is_allowed = options && strstr(options, "verify_asan_link_order=0");
	int is_first = preload && strcspn(preload, ": ") > 0 &&
		       memmem(preload, strcspn(preload, ": "), "asan", 4);

	if (ct_elf_has(file, "__tsan_init") != CT_ELF_HAS_NOT)
		ct_doctor_add(d, CT_DOCTOR_SANITIZER, CT_DOCTOR_NOTHING,
			      "%s is built with ThreadSanitizer, which would report the library's "
			      "own threads",
			      path);
	if (ct_elf_has(file, "__asan_init") != CT_ELF_IMPORTS)
		return;
	if (d->is_preloaded && !is_allowed && !is_first)
		ct_doctor_add(d, CT_DOCTOR_SANITIZER, CT_DOCTOR_NOTHING,
			      "%s is built with AddressSanitizer, which ends it because LD_PRELOAD "
			      "comes before its runtime",
			      path);
	else
		ct_doctor_add(d, CT_DOCTOR_SANITIZER, CT_DOCTOR_FINE,
			      "%s is built with AddressSanitizer, which %s", path,
			      d->is_preloaded ? "lets LD_PRELOAD be"
					      : "lets the library be, as commtrace run sets "
						"ASAN_OPTIONS=verify_asan_link_order=0");
}

int ct_doctor_object(struct ct_doctor *d, const char *path, enum ct_doctor_role role)
{
	const char *name = ct_path_name(path), *why;
	int is_program = role == CT_DOCTOR_THE_PROGRAM, reported = -1;
	int misses;
	enum ct_elf_has nccl;
	struct ct_doctor_elf file;

	if (!is_new(path) || begins_with(name, "libcommtrace") ||
	    ct_elf_open(&file, path, &why) != 0)
		return 0;
	nccl = ct_elf_has(&file, CALL);
	if (nccl == CT_ELF_EXPORTS && role == CT_DOCTOR_PRELOADED)
		ct_doctor_add(d, CT_DOCTOR_OTHER_PRELOADS, CT_DOCTOR_FINE,
			      "%s wraps NCCL, too: each passes calls on to the next", path);
	else if (nccl == CT_ELF_EXPORTS)
		look_at_definition(d, &file, path, is_program);
	if (role != CT_DOCTOR_PRELOADED)
		look_at_gloo(d, &file, path, is_program);
	if (is_program)
		look_at_sanitizers(d, &file, path);
	misses = role != CT_DOCTOR_PRELOADED &&
		 ct_doctor_backends_look(&file, path, role != CT_DOCTOR_INSTALLED);
	for (size_t i = 0; i < N(marks); i++) {
		if ((int)marks[i].id == reported || is_excepted(marks[i].id, name) ||
		    !has_mark(&file, &marks[i], name, is_program, nccl))
			continue;
		reported = (int)marks[i].id;
		ct_doctor_add_invisible(d, marks[i].id,
					role == CT_DOCTOR_INSTALLED &&
							marks[i].id != CT_DOCTOR_NCCL_HIDDEN
						? CT_DOCTOR_UNKNOWN
						: CT_DOCTOR_PART,
					path);
	}
	ct_elf_close(&file);
	return misses;
}

void ct_doctor_objects_done(struct ct_doctor *d)
{
	const char *second = getenv("VLLM_NCCL_SO_PATH");

	if (second && second[0])
		ct_doctor_object(d, second, CT_DOCTOR_INSTALLED);
	ct_doctor_backends_done(d);
	free(all.seen);
	memset(&all, 0, sizeof(all));
}
