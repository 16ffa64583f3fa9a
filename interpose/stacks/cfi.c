/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/cfi.h"

#include <string.h>

#include "interpose/environ/peek.h"
#include "interpose/stacks/dwarf.h"

/* size: entries of a table; more is a damaged one. Then bytes of the description of one function,
 * and of what is common to several: most have less than 100; without one the caller is guessed. */
#define MOST_TABLE (1u << 24)
#define MOST_ENTRY 8192u
#define MOST_COMMON 1024u
/* fact: DW_EH_PE_...: relative to the table, four bytes; absolute; relative to its own address. */
#define POINTER_SIGNED_4 0x3bu
#define POINTER_4 0x03u
#define POINTER_HERE_4 0x1bu

/* One function's entry with what it has in common with others. */
struct cfi_entry {
	uint8_t bytes[MOST_ENTRY], common[MOST_COMMON];
	struct ct_bytes program, first_program;
	struct ct_program units;
	uint64_t return_register;
	uint64_t begin, len; /* of the function */
	int is_signal;
	int has_more;	 /* 'z': the entry has a part of its own before its program */
	uint8_t pointer; /* how it writes addresses */
};

static int peek(uintptr_t from, void *to, size_t len)
{
	return ct_peek(from, to, len) == len ? 0 : -1;
}

/* Address of the entry of `pc`'s function, or of the one before it; 0 none. */
static uintptr_t search(uintptr_t table, uintptr_t pc)
{
	struct {
		uint8_t version, frame_pointer, count_pointer, table_pointer;
		int32_t frames;
		uint32_t n;
	} head;
	struct {
		int32_t begin, entry;
	} row;
	uint32_t low = 0, high;
	uintptr_t found = 0;

	if (peek(table, &head, sizeof(head)) != 0 || head.version != 1 ||
	    head.frame_pointer != POINTER_HERE_4 || head.count_pointer != POINTER_4 ||
	    head.table_pointer != POINTER_SIGNED_4 || head.n > MOST_TABLE)
		return 0;
	for (high = head.n; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (peek(table + sizeof(head) + (uintptr_t)middle * sizeof(row), &row,
			 sizeof(row)) != 0)
			return 0;
		if (pc < table + (uintptr_t)(intptr_t)row.begin) {
			high = middle;
		} else {
			found = table + (uintptr_t)(intptr_t)row.entry;
			low = middle + 1;
		}
	}
	return found;
}

/* An address as the table writes them; `at` is where its bytes stand. */
static uint64_t read_pointer(struct ct_bytes *b, uint8_t how, uintptr_t at)
{
	static const uint8_t sizes[16] = {
		[0] = 8, [2] = 2, [3] = 4, [4] = 8, [10] = 2, [11] = 4, [12] = 8
	};
	unsigned size = sizes[how & 15];
	uint64_t value;

	if (!size || (how & 0x70) > 0x10) {
		b->bad = 1;
		return 0;
	}
	value = how & 8 ? (uint64_t)ct_bytes_signed(b, size) : ct_bytes_number(b, size);
	return (how & 0x70) == 0x10 ? value + at : value;
}

/* Length of the entry at `at`, including the length word, at most `most`; 0 if it is not an entry. */
static size_t entry_len(uintptr_t at, size_t most)
{
	uint32_t len;

	if (peek(at, &len, sizeof(len)) != 0 || len < 8 || len > most - sizeof(len))
		return 0;
	return len + sizeof(len);
}

static int read_common(struct cfi_entry *e, uintptr_t at)
{
	size_t len = entry_len(at, sizeof(e->common));
	const char *letters;
	struct ct_bytes b;
	uint8_t version;

	if (!len || peek(at, e->common, len) != 0)
		return -1;
	b = (struct ct_bytes){ .at = e->common + 8, .end = e->common + len };
	version = (uint8_t)ct_bytes_number(&b, 1);
	letters = (const char *)b.at;
	while (ct_bytes_number(&b, 1))
		;
	if (b.bad || (version != 1 && version != 3))
		return -1;
	e->units.code_unit = ct_bytes_uleb(&b);
	e->units.data_unit = ct_bytes_sleb(&b);
	e->return_register = version == 1 ? ct_bytes_number(&b, 1) : ct_bytes_uleb(&b);
	e->first_program = b;
	if (*letters == 'z') {
		struct ct_bytes more = ct_bytes_take(&b, ct_bytes_uleb(&b));

		e->has_more = 1;
		e->first_program = b;
		while (*++letters) {
			if (*letters == 'R')
				e->pointer = (uint8_t)ct_bytes_number(&more, 1);
			else if (*letters == 'L')
				ct_bytes_number(&more, 1);
			else if (*letters == 'P')
				read_pointer(&more, (uint8_t)(ct_bytes_number(&more, 1) & 15), 0);
			else if (*letters == 'S')
				e->is_signal = 1;
			else if (*letters != 'B')
				return -1;
		}
		b.bad |= more.bad;
	} else if (*letters) {
		return -1;
	}
	return b.bad ? -1 : 0;
}

static int read_entry(struct cfi_entry *e, uintptr_t at)
{
	size_t len = entry_len(at, sizeof(e->bytes));
	struct ct_bytes b;
	uint64_t back;

	if (!len || peek(at, e->bytes, len) != 0)
		return -1;
	b = (struct ct_bytes){ .at = e->bytes + 4, .end = e->bytes + len };
	back = ct_bytes_number(&b, 4);
	if (!back || read_common(e, at + 4 - back) != 0)
		return -1;
	e->begin = read_pointer(&b, e->pointer, at + (uintptr_t)(b.at - e->bytes));
	e->len = read_pointer(&b, e->pointer & 15, 0);
	if (e->has_more)
		ct_bytes_take(&b, ct_bytes_uleb(&b));
	e->program = b;
	return b.bad ? -1 : 0;
}

/* 1 and *value; 0: it is not known. */
static int caller_value(const struct ct_rule *rule, unsigned number, uint64_t frame,
			const struct ct_regs *regs, uint64_t *value)
{
	uint64_t at = frame + (uint64_t)rule->offset;

	switch (rule->how) {
	case CT_RULE_NONE:
		if (!(CT_REGS_KEPT >> number & 1))
			return 0;
		/* fall through */
	case CT_RULE_SAME:
		*value = ct_regs_knows(regs, number) ? regs->value[number] : 0;
		return ct_regs_knows(regs, number);
	case CT_RULE_UNDEFINED:
		return 0;
	case CT_RULE_IS:
		*value = at;
		return 1;
	case CT_RULE_REGISTER:
		if (!ct_regs_knows(regs, (uint64_t)rule->offset))
			return 0;
		*value = regs->value[rule->offset];
		return 1;
	case CT_RULE_AT_EXPRESSION:
		if (ct_expression(rule->expression, regs, &frame, &at) != 0)
			return 0;
		/* fall through */
	case CT_RULE_AT:
		return peek(at, value, sizeof(*value)) == 0;
	case CT_RULE_IS_EXPRESSION:
		return ct_expression(rule->expression, regs, &frame, value) == 0;
	}
	return 0;
}

static int frame_address(const struct ct_row *row, const struct ct_regs *regs, uint64_t *frame)
{
	if (row->frame_expression.at)
		return ct_expression(row->frame_expression, regs, NULL, frame);
	if (!ct_regs_knows(regs, row->frame_register))
		return -1;
	*frame = regs->value[row->frame_register] + (uint64_t)row->frame_offset;
	return 0;
}

/* A return address may carry a signature in the bits that no address of a program has. */
static uintptr_t without_signature(uint64_t address)
{
#if defined(__aarch64__)
	return (uintptr_t)(address & 0x0000ffffffffffffull);
#else
	return (uintptr_t)address;
#endif
}

/* The caller's registers by what holds at this address. */
static enum ct_cfi_answer apply(const struct ct_row *row, uint64_t return_register,
				struct ct_regs *regs)
{
	const struct ct_rule *back;
	struct ct_regs caller = { .pc = 0 };
	uint64_t frame, value;

	if (return_register >= CT_RULES)
		return CT_CFI_UNKNOWN;
	back = &row->rules[return_register];
	if (back->how == CT_RULE_UNDEFINED)
		return CT_CFI_END;
	if (frame_address(row, regs, &frame) != 0 ||
	    !caller_value(back, (unsigned)return_register, frame, regs, &value))
		return CT_CFI_UNKNOWN;
	caller.pc = without_signature(value);
	for (unsigned i = 0; i < CT_REGS; i++)
		if (i != CT_REG_PC && caller_value(&row->rules[i], i, frame, regs, &value))
			ct_regs_set(&caller, i, value);
	if (row->rules[CT_REG_SP].how == CT_RULE_NONE)
		ct_regs_set(&caller, CT_REG_SP, frame);
	*regs = caller;
	return caller.pc ? CT_CFI_STEPPED : CT_CFI_END;
}

int ct_cfi_function(const struct ct_mapped_code *code, uintptr_t at, uintptr_t *begin,
		    uintptr_t *end)
{
	struct cfi_entry e = { .has_more = 0 };
	uintptr_t entry = code->unwind ? search(code->unwind, at) : 0;

	if (!entry || read_entry(&e, entry) != 0 || at - e.begin >= e.len)
		return -1;
	*begin = e.begin;
	*end = e.begin + e.len;
	return 0;
}

enum ct_cfi_answer ct_cfi_step(const struct ct_mapped_code *code, struct ct_regs *regs, int is_call,
			       int *is_signal)
{
	/* what a call returns to may be the first address of the next function */
	uintptr_t at = regs->pc - (is_call ? 1 : 0);
	struct ct_row first, row;
	struct cfi_entry e = { .has_more = 0 };
	uintptr_t entry;

	*is_signal = 0;
	entry = code->unwind ? search(code->unwind, at) : 0;
	if (!entry || read_entry(&e, entry) != 0)
		return CT_CFI_NONE;
	if (e.is_signal)
		at = regs->pc;
	if (at - e.begin >= e.len)
		return CT_CFI_NONE;
	memset(&row, 0, sizeof(row));
	memset(&first, 0, sizeof(first));
	if (ct_program_run(e.first_program, &e.units, e.begin, UINT64_MAX, &first, &row) != 0)
		return CT_CFI_NONE;
	first = row;
	if (ct_program_run(e.program, &e.units, e.begin, at, &first, &row) != 0)
		return CT_CFI_NONE;
	*is_signal = e.is_signal;
	return apply(&row, e.return_register, regs);
}
