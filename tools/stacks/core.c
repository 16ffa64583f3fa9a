/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/stacks/core.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/stacks/need.h"
#include "tools/stacks/object.h"

#define MOST_SEGMENTS (1u << 20)  /* size: each thread has two mappings, each library five */
#define MOST_NOTES (256ull << 20) /* size: 500 bytes for each thread and 100 for each mapping */
#define MOST_THREADS (1u << 16)	  /* size */

struct ct_core {
	uint64_t bytes; /* of the file */
	Elf64_Phdr *segments;
	size_t n;
	uint64_t vdso; /* its address, 0 not known */
};

static int read_at(int fd, uint64_t at, void *to, size_t len)
{
	uint8_t *out = to;

	while (len) {
		ssize_t got = pread(fd, out, len, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		out += got;
		at += (uint64_t)got;
		len -= (size_t)got;
	}
	return 0;
}

/* ---- memory ---- */

/* The segments of a core are apart and mostly ascending; there may be thousands. */
static const Elf64_Phdr *segment_of(const struct ct_core *core, uint64_t at)
{
	size_t low = 0, high = core->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (core->segments[middle].p_vaddr <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at - core->segments[low - 1].p_vaddr < core->segments[low - 1].p_memsz
		       ? &core->segments[low - 1]
		       : NULL;
}

/* What was written into the core. */
static int read_dumped(struct ct_target *target, uint64_t from, void *to, size_t len)
{
	uint8_t *out = to;

	while (len) {
		const Elf64_Phdr *segment = segment_of(target->core_parts, from);
		uint64_t at = segment ? from - segment->p_vaddr : 0;
		size_t part;

		if (!segment || at >= segment->p_filesz)
			return -1;
		part = segment->p_filesz - at < len ? (size_t)(segment->p_filesz - at) : len;
		if (segment->p_offset > target->core_parts->bytes ||
		    read_at(target->core_fd, segment->p_offset + at, out, part) != 0)
			return -1;
		out += part;
		from += part;
		len -= part;
	}
	return 0;
}

/* Code and tables are not written into cores: they are in the files, if these are the right ones. */
static int fetch_page(void *source, uint64_t from, uint8_t to[CT_PAGE])
{
	struct ct_target *target = source;
	struct ct_range *range;

	if (read_dumped(target, from, to, CT_PAGE) == 0)
		return 0;
	range = ct_range_find(&target->ranges, from);
	if (!range || range->is_writable)
		return -1;
	memset(to, 0, CT_PAGE);
	return ct_object_read(target, range, from - range->begin + range->offset, to, CT_PAGE);
}

/* ---- notes ---- */

static void take_thread(struct ct_target *target, const uint8_t *data, size_t len)
{
	struct elf_prstatus status;
	struct user_regs_struct kernel;
	struct ct_stack_sample *sample;

	_Static_assert(sizeof(status.pr_reg) == sizeof(kernel), "the same registers");
	if (len < sizeof(status) || target->n_samples == MOST_THREADS)
		return;
	memcpy(&status, data, sizeof(status));
	memcpy(&kernel, &status.pr_reg, sizeof(kernel));
	if (!target->n_samples)
		target->signal = status.pr_cursig;
	target->samples = ct_need_more(target->samples, target->n_samples,
				       sizeof(*target->samples));
	sample = &target->samples[target->n_samples++];
	*sample = (struct ct_stack_sample){ .tid = (uint32_t)status.pr_pid };
	ct_registers_take(&sample->registers, &kernel);
}

static void take_process(struct ct_target *target, const uint8_t *data, size_t len)
{
	struct elf_prpsinfo info;

	if (len < sizeof(info))
		return;
	memcpy(&info, data, sizeof(info));
	target->pid = info.pr_pid;
	target->program = info.pr_psargs[0]
				  ? ct_need_text("%.*s", (int)sizeof(info.pr_psargs),
						 info.pr_psargs)
				  : ct_need_text("%.*s", (int)sizeof(info.pr_fname), info.pr_fname);
}

static void take_signal(struct ct_target *target, const uint8_t *data, size_t len)
{
	siginfo_t info;

	if (len < sizeof(info) || target->n_samples > 1)
		return;
	memcpy(&info, data, sizeof(info));
	if (info.si_signo == SIGSEGV || info.si_signo == SIGBUS || info.si_signo == SIGILL ||
	    info.si_signo == SIGFPE)
		target->signal_address = (uint64_t)(uintptr_t)info.si_addr;
}

static void take_vector(struct ct_core *core, const uint8_t *data, size_t len)
{
	Elf64_auxv_t pair;

	for (size_t at = 0; at + sizeof(pair) <= len; at += sizeof(pair)) {
		memcpy(&pair, data + at, sizeof(pair));
		if (pair.a_type == AT_SYSINFO_EHDR)
			core->vdso = pair.a_un.a_val;
	}
}

static void add_range(struct ct_target *target, const struct ct_range *range)
{
	target->ranges.list = ct_need_more(target->ranges.list, target->ranges.n,
					   sizeof(*target->ranges.list));
	target->ranges.list[target->ranges.n++] = *range;
}

/* NT_FILE: their number, the size of a page, then begin, end and page of each, then the paths. */
static void take_files(struct ct_target *target, const uint8_t *data, size_t len)
{
	uint64_t head[2], entry[3];
	const char *path, *end = (const char *)data + len;

	if (len < sizeof(head))
		return;
	memcpy(head, data, sizeof(head));
	if (head[0] > (len - sizeof(head)) / sizeof(entry))
		return;
	path = (const char *)data + sizeof(head) + head[0] * sizeof(entry);
	for (uint64_t i = 0; i < head[0] && path < end; i++) {
		size_t n = strnlen(path, (size_t)(end - path));

		memcpy(entry, data + sizeof(head) + i * sizeof(entry), sizeof(entry));
		if (entry[0] < entry[1] && path + n < end)
			add_range(target, &(struct ct_range){ .begin = entry[0],
							      .end = entry[1],
							      .offset = entry[2] * head[1],
							      .path = ct_need_text("%s", path) });
		path += n + 1;
	}
}

static void take_note(struct ct_target *target, const Elf64_Nhdr *note, const char *name,
		      const uint8_t *data)
{
	size_t len = note->n_descsz;

	if (note->n_namesz != 5 || memcmp(name, "CORE", 5) != 0)
		return;
	if (note->n_type == NT_PRSTATUS)
		take_thread(target, data, len);
	else if (note->n_type == NT_PRPSINFO)
		take_process(target, data, len);
	else if (note->n_type == NT_SIGINFO)
		take_signal(target, data, len);
	else if (note->n_type == NT_AUXV)
		take_vector(target->core_parts, data, len);
	else if (note->n_type == NT_FILE)
		take_files(target, data, len);
}

static void take_notes(struct ct_target *target, const Elf64_Phdr *segment)
{
	const struct ct_core *core = target->core_parts;
	uint64_t room = core->bytes > segment->p_offset ? core->bytes - segment->p_offset : 0;
	size_t len = (size_t)(segment->p_filesz < room ? segment->p_filesz : room);
	uint8_t *bytes;
	Elf64_Nhdr note;

	if (len > MOST_NOTES)
		return;
	bytes = ct_need(1, len);
	if (read_at(target->core_fd, segment->p_offset, bytes, len) != 0)
		len = 0;
	for (size_t at = 0; at + sizeof(note) <= len;) {
		memcpy(&note, bytes + at, sizeof(note));
		size_t name = at + sizeof(note), data = name + (((size_t)note.n_namesz + 3) & ~3ul);

		if (data > len || note.n_descsz > len - data)
			break;
		take_note(target, &note, (const char *)bytes + name, bytes + data);
		at = data + (((size_t)note.n_descsz + 3) & ~3ul);
	}
	free(bytes);
}

/* ---- what is mapped ---- */

static int by_begin(const void *a, const void *b)
{
	const struct ct_range *x = a, *y = b;

	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

static int by_address(const void *a, const void *b)
{
	const Elf64_Phdr *x = a, *y = b;

	return x->p_vaddr < y->p_vaddr ? -1 : x->p_vaddr > y->p_vaddr;
}

/* Files are in a note, all else in the segments. A file without a segment was not written: its code
 * is not. */
static void make_ranges(struct ct_target *target)
{
	const struct ct_core *core = target->core_parts;
	struct ct_ranges *ranges = &target->ranges;
	size_t files, n = 0;

	if (ranges->n)
		qsort(ranges->list, ranges->n, sizeof(*ranges->list), by_begin);
	files = ranges->n;
	for (size_t i = 0; i < files; i++) {
		const Elf64_Phdr *segment = segment_of(core, ranges->list[i].begin);

		ranges->list[i].is_code = !segment || segment->p_flags & PF_X;
		ranges->list[i].is_writable = segment && segment->p_flags & PF_W;
	}
	for (size_t i = 0; i < core->n; i++) {
		const Elf64_Phdr *segment = &core->segments[i];
		struct ct_ranges known = { .list = ranges->list, .n = files };

		if (!ct_range_find(&known, segment->p_vaddr))
			add_range(target,
				  &(struct ct_range){
					  .begin = segment->p_vaddr,
					  .end = segment->p_vaddr + segment->p_memsz,
					  .path = core->vdso == segment->p_vaddr ? "[vdso]" : "",
					  .is_code = !!(segment->p_flags & PF_X),
					  .is_writable = !!(segment->p_flags & PF_W) });
	}
	if (ranges->n)
		qsort(ranges->list, ranges->n, sizeof(*ranges->list), by_begin);
	/* what overlaps in a damaged core is left out */
	for (size_t i = 0; i < ranges->n; i++)
		if (ranges->list[i].begin < ranges->list[i].end &&
		    (!n || ranges->list[n - 1].end <= ranges->list[i].begin))
			ranges->list[n++] = ranges->list[i];
	ranges->n = n;
}

/* ---- the file ---- */

static const char *why_foreign(const Elf64_Ehdr *head, size_t len)
{
	if (len < sizeof(*head) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0)
		return "it is not a core (not an ELF file)";
	if (head->e_ident[EI_CLASS] != ELFCLASS64)
		return "it is a core of a program of 32 bits; only those of 64 bits can be read";
	if (head->e_type != ET_CORE)
		return "it is an ELF file, but not a core";
	if (head->e_machine != EM_X86_64)
		return "it is a core of another architecture; only x86-64 can be read";
	if (head->e_phentsize != sizeof(Elf64_Phdr))
		return "it is not a core of Linux";
	return NULL;
}

/* More than 65534 segments are counted in the first section. */
static size_t count_segments(const struct ct_target *target, const Elf64_Ehdr *head)
{
	Elf64_Shdr section;

	if (head->e_phnum != PN_XNUM)
		return head->e_phnum;
	return read_at(target->core_fd, head->e_shoff, &section, sizeof(section)) == 0
		       ? section.sh_info
		       : 0;
}

static void read_segments(struct ct_target *target, const Elf64_Ehdr *head)
{
	struct ct_core *core = target->core_parts;
	size_t n = count_segments(target, head), loads = 0;
	uint64_t end = 0;

	n = n < MOST_SEGMENTS ? n : MOST_SEGMENTS;
	core->segments = ct_need(n, sizeof(*core->segments));
	while (core->n < n && read_at(target->core_fd, head->e_phoff + core->n * sizeof(Elf64_Phdr),
				      &core->segments[core->n], sizeof(Elf64_Phdr)) == 0)
		core->n++;
	for (size_t i = 0; i < core->n; i++) {
		const Elf64_Phdr segment = core->segments[i];

		if (segment.p_type == PT_NOTE)
			take_notes(target, &segment);
		if (segment.p_filesz && segment.p_offset < UINT64_MAX - segment.p_filesz &&
		    segment.p_offset + segment.p_filesz > end)
			end = segment.p_offset + segment.p_filesz;
		if (segment.p_type == PT_LOAD && segment.p_memsz &&
		    segment.p_vaddr < UINT64_MAX - segment.p_memsz)
			core->segments[loads++] = segment;
	}
	if (core->n < n)
		ct_target_misses(target, ct_need_text("the core is cut off in its list of parts"));
	else if (end > core->bytes)
		ct_target_misses(target, ct_need_text("the core is cut off: %llu of %llu bytes",
						      (unsigned long long)core->bytes,
						      (unsigned long long)end));
	core->n = loads;
	qsort(core->segments, core->n, sizeof(*core->segments), by_address);
}

void ct_core_open(struct ct_target *target, const char *path)
{
	Elf64_Ehdr head = { .e_type = ET_NONE };
	struct stat st;
	ssize_t got;

	*target = (struct ct_target){ .core = path, .read_true = read_dumped };
	target->core_parts = ct_need(1, sizeof(*target->core_parts));
	target->pages.fetch = fetch_page;
	target->pages.source = target;
	target->core_fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (target->core_fd < 0 || fstat(target->core_fd, &st) != 0) {
		target->error = ct_need_text("%s", strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		target->error = "it is not a file";
		return;
	}
	target->core_parts->bytes = (uint64_t)st.st_size;
	got = pread(target->core_fd, &head, sizeof(head), 0);
	target->error = why_foreign(&head, got > 0 ? (size_t)got : 0);
	if (target->error)
		return;
	read_segments(target, &head);
	make_ranges(target);
	if (!target->n_samples)
		target->error = "no thread is in it: the core is cut off, or empty";
}

void ct_core_close(struct ct_target *target)
{
	if (target->core_fd >= 0)
		close(target->core_fd);
	if (target->core_parts)
		free(target->core_parts->segments);
	free(target->core_parts);
	target->core_parts = NULL;
	target->core_fd = -1;
}
