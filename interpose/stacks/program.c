/* SPDX-License-Identifier: Apache-2.0 */
/* The programs of .eh_frame: DWARF 5, section 6.4.2. */
#include "interpose/stacks/dwarf.h"

#define MOST_KEPT 4u /* size: rows that are remembered at once: compilers need one */

/* DW_CFA_ codes; those of the first three have an operand in their low six bits. */
enum {
	CFA_ADVANCE = 1,
	CFA_OFFSET = 2,
	CFA_RESTORE = 3,
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE1 = 0x02,
	CFA_ADVANCE2 = 0x03,
	CFA_ADVANCE4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF = 0x0c,
	CFA_DEF_REGISTER = 0x0d,
	CFA_DEF_OFFSET = 0x0e,
	CFA_DEF_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_SF = 0x11,
	CFA_DEF_SF = 0x12,
	CFA_DEF_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_AARCH64_SIGNED = 0x2d, /* the return address is signed from here on, or no more */
	CFA_ARGS_SIZE = 0x2e,
	CFA_NEGATIVE_OFFSET = 0x2f,
};

struct run {
	struct ct_bytes b;
	const struct ct_program *of;
	const struct ct_row *first;
	struct ct_row *row;
	struct ct_row kept[MOST_KEPT];
	unsigned n_kept;
	uint64_t at;
};

/* Numbers of a damaged table wrap around. */
static int64_t in_units(const struct run *r, uint64_t value)
{
	return (int64_t)(value * (uint64_t)r->of->data_unit);
}

static void set(struct run *r, uint64_t number, int how, int64_t offset)
{
	/* floating-point and vector registers have numbers, too */
	if (number < CT_RULES)
		r->row->rules[number] = (struct ct_rule){ .how = how, .offset = offset };
}

static void set_expression(struct run *r, uint64_t number, int how)
{
	struct ct_bytes part = ct_bytes_take(&r->b, ct_bytes_uleb(&r->b));

	if (number < CT_RULES)
		r->row->rules[number] = (struct ct_rule){ .how = how, .expression = part };
}

static void restore(struct run *r, uint64_t number)
{
	if (number < CT_RULES)
		r->row->rules[number] = r->first->rules[number];
}

static void define(struct run *r, uint64_t number, int64_t offset)
{
	r->row->frame_register = number;
	r->row->frame_offset = offset;
	r->row->frame_expression = (struct ct_bytes){ .at = NULL };
}

/* The rules for the frame's address. 0: none of these. */
static int frame_step(struct run *r, unsigned code)
{
	struct ct_row *row = r->row;
	uint64_t number;

	switch (code) {
	case CFA_DEF:
		number = ct_bytes_uleb(&r->b);
		define(r, number, (int64_t)ct_bytes_uleb(&r->b));
		return 1;
	case CFA_DEF_SF:
		number = ct_bytes_uleb(&r->b);
		define(r, number, in_units(r, (uint64_t)ct_bytes_sleb(&r->b)));
		return 1;
	case CFA_DEF_REGISTER:
		define(r, ct_bytes_uleb(&r->b), row->frame_offset);
		return 1;
	case CFA_DEF_OFFSET:
		row->frame_offset = (int64_t)ct_bytes_uleb(&r->b);
		return 1;
	case CFA_DEF_OFFSET_SF:
		row->frame_offset = in_units(r, (uint64_t)ct_bytes_sleb(&r->b));
		return 1;
	case CFA_DEF_EXPRESSION:
		row->frame_expression = ct_bytes_take(&r->b, ct_bytes_uleb(&r->b));
		return 1;
	}
	return 0;
}

/* The rules for one register. 0: none of these. */
static int register_step(struct run *r, unsigned code)
{
	uint64_t number;

	if (code < CFA_OFFSET_EXTENDED || (code > CFA_REGISTER && code < CFA_EXPRESSION) ||
	    (code > CFA_VAL_EXPRESSION && code != CFA_NEGATIVE_OFFSET))
		return 0;
	number = ct_bytes_uleb(&r->b);
	switch (code) {
	case CFA_OFFSET_EXTENDED:
		set(r, number, CT_RULE_AT, in_units(r, ct_bytes_uleb(&r->b)));
		break;
	case CFA_NEGATIVE_OFFSET:
		set(r, number, CT_RULE_AT, in_units(r, 0 - ct_bytes_uleb(&r->b)));
		break;
	case CFA_OFFSET_SF:
		set(r, number, CT_RULE_AT, in_units(r, (uint64_t)ct_bytes_sleb(&r->b)));
		break;
	case CFA_VAL_OFFSET:
		set(r, number, CT_RULE_IS, in_units(r, ct_bytes_uleb(&r->b)));
		break;
	case CFA_VAL_OFFSET_SF:
		set(r, number, CT_RULE_IS, in_units(r, (uint64_t)ct_bytes_sleb(&r->b)));
		break;
	case CFA_RESTORE_EXTENDED:
		restore(r, number);
		break;
	case CFA_UNDEFINED:
		set(r, number, CT_RULE_UNDEFINED, 0);
		break;
	case CFA_SAME_VALUE:
		set(r, number, CT_RULE_SAME, 0);
		break;
	case CFA_REGISTER:
		set(r, number, CT_RULE_REGISTER, (int64_t)ct_bytes_uleb(&r->b));
		break;
	case CFA_EXPRESSION:
		set_expression(r, number, CT_RULE_AT_EXPRESSION);
		break;
	case CFA_VAL_EXPRESSION:
		set_expression(r, number, CT_RULE_IS_EXPRESSION);
		break;
	default:
		return 0;
	}
	return 1;
}

/* What moves on. 0: not one of these. */
static int location_step(struct run *r, unsigned code)
{
	switch (code) {
	case CFA_SET_LOC:
		/* relative to an address that a copy does not know; compilers do not write it */
		r->b.bad = 1;
		return 1;
	case CFA_ADVANCE1:
	case CFA_ADVANCE2:
	case CFA_ADVANCE4:
		r->at += ct_bytes_number(&r->b, 1u << (code - CFA_ADVANCE1)) * r->of->code_unit;
		return 1;
	case CFA_REMEMBER:
		if (r->n_kept < MOST_KEPT)
			r->kept[r->n_kept++] = *r->row;
		else
			r->b.bad = 1;
		return 1;
	case CFA_RESTORE_STATE:
		if (r->n_kept)
			*r->row = r->kept[--r->n_kept];
		else
			r->b.bad = 1;
		return 1;
	case CFA_ARGS_SIZE:
		ct_bytes_uleb(&r->b);
		return 1;
	case CFA_AARCH64_SIGNED:
	case CFA_NOP:
		return 1;
	}
	return 0;
}

static void step(struct run *r)
{
	unsigned code = (unsigned)ct_bytes_number(&r->b, 1);

	switch (code >> 6) {
	case CFA_ADVANCE:
		r->at += (code & 0x3f) * r->of->code_unit;
		return;
	case CFA_OFFSET:
		set(r, code & 0x3f, CT_RULE_AT, in_units(r, ct_bytes_uleb(&r->b)));
		return;
	case CFA_RESTORE:
		restore(r, code & 0x3f);
		return;
	}
	if (!location_step(r, code) && !frame_step(r, code) && !register_step(r, code))
		r->b.bad = 1;
}

int ct_program_run(struct ct_bytes program, const struct ct_program *of, uint64_t begin,
		   uint64_t pc, const struct ct_row *first, struct ct_row *row)
{
	struct run r = { .b = program, .of = of, .first = first, .row = row, .at = begin };

	while (r.b.at < r.b.end && !r.b.bad) {
		struct ct_bytes before = r.b;

		step(&r);
		if (r.at > pc) {
			r.b = before;
			break;
		}
	}
	return r.b.bad ? -1 : 0;
}
