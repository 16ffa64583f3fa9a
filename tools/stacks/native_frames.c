/* SPDX-License-Identifier: Apache-2.0 */
/* libunwind reads the target by functions of ours (as perf lets it), and none of its own: so a
 * process and a core are the same to it, and everything that it reads is bounded. */
#include "tools/stacks/native_frames.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

#include "tools/stacks/need.h"
#include "tools/stacks/object.h"

#define MOST_READS 4000000u /* size: words for one stack; a damaged table must end */

/* libunwind exports it for programs that find the tables themselves, and its headers do not declare
 * it.
 */
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t space, unw_word_t pc,
					      unw_dyn_info_t *table, unw_proc_info_t *info,
					      int need_unwind_info, void *arg);

/* .eh_frame_hdr: a version, how three things are coded, where .eh_frame is, how many rows, and the
 * rows: where code begins and its entry, both relative to the table. Linkers write no other coding
 * (the Linux Standard Base has it). */
struct table_head {
	uint8_t version, frame_coding, count_coding, row_coding;
	int32_t frame;
	uint32_t n_rows;
};
#define ROW_BYTES 8u	   /* fact: of one row */
#define COUNT_CODING 0x03u /* fact: DW_EH_PE_udata4 */
#define ROW_CODING 0x3bu   /* fact: DW_EH_PE_datarel | DW_EH_PE_sdata4 */

struct unwinding {
	struct ct_target *target;
	struct ct_stack_sample *sample;
	struct ct_registers registers; /* the walk begins here */
	uint32_t reads;
};

static int read_copy(const struct ct_stack_sample *sample, uint64_t from, void *to, size_t len)
{
	for (uint32_t i = 0; i < sample->n_copies; i++) {
		const struct ct_copy *copy = &sample->copies[i];

		if (from < copy->from || from - copy->from > copy->len ||
		    copy->len - (from - copy->from) < len)
			continue;
		memcpy(to, copy->bytes + (from - copy->from), len);
		return 0;
	}
	return -1;
}

static int access_memory(unw_addr_space_t space, unw_word_t from, unw_word_t *value, int write,
			 void *arg)
{
	struct unwinding *u = arg;
	const struct ct_range *range;

	(void)space;
	if (write || u->reads++ > MOST_READS)
		return -UNW_EINVAL;
	if (read_copy(u->sample, from, value, sizeof(*value)) == 0)
		return 0;
	if (!u->target->core) {
		range = ct_range_find(&u->target->ranges, from);
		if (!range)
			return -UNW_EINVAL;
		/* it may have changed since the thread was paused */
		if (range->is_writable) {
			if (!u->sample->lacked)
				u->sample->lacked = from;
			return -UNW_EINVAL;
		}
	}
	return ct_pages_read(&u->target->pages, from, value, sizeof(*value)) == 0 ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value,
			   int write, void *arg)
{
	const struct unwinding *u = arg;

	(void)space;
	if (write || number < 0 || number >= (int)CT_REGISTERS ||
	    !(u->registers.known >> number & 1))
		return -UNW_EBADREG;
	*value = u->registers.value[number];
	return 0;
}

static int find_table(unw_addr_space_t space, unw_word_t pc, unw_proc_info_t *info,
		      int need_unwind_info, void *arg)
{
	const struct unwinding *u = arg;
	struct ct_range *range = ct_range_find(&u->target->ranges, pc);
	struct table_head head;
	uint64_t address, mapped;
	unw_dyn_info_t table;

	if (!range || !range->is_code || ct_object_unwind(u->target, range, &address) != 0 ||
	    ct_object_mapped(u->target, range, address, &mapped) != 0 ||
	    ct_pages_read(&u->target->pages, mapped, &head, sizeof(head)) != 0 ||
	    head.version != 1 || head.count_coding != COUNT_CODING || head.row_coding != ROW_CODING)
		return -UNW_ENOINFO;
	memset(&table, 0, sizeof(table));
	table.format = UNW_INFO_FORMAT_REMOTE_TABLE;
	table.start_ip = range->begin;
	table.end_ip = range->end;
	table.u.rti.segbase = mapped;
	table.u.rti.table_data = mapped + sizeof(head);
	table.u.rti.table_len = (uint64_t)head.n_rows * ROW_BYTES / sizeof(unw_word_t);
	return UNW_OBJ(dwarf_search_unwind_table)(space, pc, &table, info, need_unwind_info, arg);
}

static void put_table(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space;
	(void)info;
	(void)arg;
}

static int no_list(unw_addr_space_t space, unw_word_t *list, void *arg)
{
	(void)space;
	(void)list;
	(void)arg;
	return -UNW_ENOINFO;
}

static int no_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int write,
		    void *arg)
{
	(void)space;
	(void)number;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static int no_name(unw_addr_space_t space, unw_word_t at, char *name, size_t room,
		   unw_word_t *offset, void *arg)
{
	(void)space;
	(void)at;
	(void)name;
	(void)room;
	(void)offset;
	(void)arg;
	return -UNW_ENOINFO;
}

static unw_addr_space_t space_of(void)
{
	static unw_accessors_t accessors = { .find_proc_info = find_table,
					     .put_unwind_info = put_table,
					     .get_dyn_info_list_addr = no_list,
					     .access_mem = access_memory,
					     .access_reg = access_register,
					     .access_fpreg = no_float,
					     .resume = no_resume,
					     .get_proc_name = no_name };
	static unw_addr_space_t space;

	if (!space)
		space = unw_create_addr_space(&accessors, 0);
	return space;
}

/* Are we in code? A false return address ends the stack before it. */
static int is_code(const struct ct_target *target, uint64_t pc)
{
	const struct ct_range *range = ct_range_find(&target->ranges, pc);

	return range && range->is_code;
}

/* A call through a bad pointer: the thread is at no code, and what the call pushed is on top of its
 * stack. 1: so it is, and the walk begins at the caller. */
static int came_from_nowhere(struct unwinding *u)
{
	uint64_t *pc = &u->registers.value[CT_RIP], *sp = &u->registers.value[CT_RSP];
	unw_word_t back;

	if (is_code(u->target, *pc) || access_memory(NULL, *sp, &back, 0, u) != 0 ||
	    !is_code(u->target, back))
		return 0;
	*pc = back;
	*sp += sizeof(back);
	return 1;
}

/* `n` frames are there already: one that the thread came from by a call. */
static void walk(struct unwinding *u, unw_cursor_t *cursor, struct ct_native_frame *frames,
		 uint32_t n)
{
	struct ct_stack_sample *sample = u->sample;
	int got, is_exact = !n, is_signal;

	sample->is_cut = 1;
	while (n < CT_NATIVE_FRAMES) {
		unw_word_t pc = 0, sp_before = 0, sp = 0;

		if (unw_get_reg(cursor, UNW_REG_IP, &pc) < 0)
			break;
		if (!pc) {
			sample->is_cut = 0;
			break;
		}
		is_signal = unw_is_signal_frame(cursor) > 0;
		/* no call leads to where a handler returns to, nor to where a signal came */
		pc -= !(is_exact || is_signal);
		if (n && !is_code(u->target, pc))
			break;
		frames[n++].pc = pc;
		is_exact = is_signal;
		unw_get_reg(cursor, UNW_REG_SP, &sp_before);
		got = unw_step(cursor);
		if (got <= 0) {
			sample->is_cut = got < 0;
			break;
		}
		unw_get_reg(cursor, UNW_REG_SP, &sp);
		/* stacks grow downwards; a signal may be delivered on a stack of its own */
		if (sp <= sp_before && !is_exact)
			break;
	}
	sample->native = ct_need(n, sizeof(frames[0]));
	memcpy(sample->native, frames, n * sizeof(frames[0]));
	sample->n_native = n;
}

void ct_native_frames(struct ct_target *target, struct ct_stack_sample *sample)
{
	static struct ct_native_frame frames[CT_NATIVE_FRAMES];
	struct unwinding u = { .target = target, .sample = sample, .registers = sample->registers };
	unw_addr_space_t space = space_of();
	unw_cursor_t cursor;
	uint32_t n = 0;

	free(sample->native);
	sample->native = NULL;
	sample->n_native = 0;
	sample->lacked = 0;
	frames[0].pc = u.registers.value[CT_RIP];
	n = (uint32_t)came_from_nowhere(&u);
	if (!space || unw_init_remote(&cursor, space, &u) != 0) {
		sample->not_taken = "its registers make no sense";
		return;
	}
	walk(&u, &cursor, frames, n);
}
