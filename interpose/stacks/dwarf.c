/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/dwarf.h"

#include "interpose/environ/peek.h"

uint64_t ct_bytes_number(struct ct_bytes *b, unsigned size)
{
	uint64_t value = 0;

	if (size > 8 || (size_t)(b->end - b->at) < size) {
		b->bad = 1;
		b->at = b->end;
		return 0;
	}
	for (unsigned i = 0; i < size; i++)
		value |= (uint64_t)b->at[i] << 8 * i;
	b->at += size;
	return value;
}

int64_t ct_bytes_signed(struct ct_bytes *b, unsigned size)
{
	uint64_t value = ct_bytes_number(b, size);
	unsigned shift = 64 - 8 * size;

	return size && size < 8 ? (int64_t)(value << shift) >> shift : (int64_t)value;
}

/* Seven bits a byte, the lowest first. *sign: the bits above those that were read, if the number is
 * negative. */
static uint64_t read_leb(struct ct_bytes *b, uint64_t *sign)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint64_t byte;

	do {
		byte = ct_bytes_number(b, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	*sign = byte & 0x40 && shift < 64 ? UINT64_MAX << shift : 0;
	return value;
}

uint64_t ct_bytes_uleb(struct ct_bytes *b)
{
	uint64_t sign;

	return read_leb(b, &sign);
}

int64_t ct_bytes_sleb(struct ct_bytes *b)
{
	uint64_t sign;
	uint64_t value = read_leb(b, &sign);

	return (int64_t)(value | sign);
}

struct ct_bytes ct_bytes_take(struct ct_bytes *b, uint64_t len)
{
	struct ct_bytes part = { .at = b->at, .end = b->at };

	if (len > (uint64_t)(b->end - b->at)) {
		b->bad = 1;
		b->at = b->end;
		return part;
	}
	b->at += len;
	part.end = b->at;
	return part;
}

/* ---- expressions ---- */

/* size: compilers' expressions have some ten operations on three values; a damaged one may loop. */
#define MOST_VALUES 16u
#define MOST_OPERATIONS 256u

struct stack {
	uint64_t value[MOST_VALUES];
	unsigned n;
	int bad;
};

static void push(struct stack *s, uint64_t value)
{
	if (s->n == MOST_VALUES)
		s->bad = 1;
	else
		s->value[s->n++] = value;
}

static uint64_t pop(struct stack *s)
{
	if (!s->n) {
		s->bad = 1;
		return 0;
	}
	return s->value[--s->n];
}

static void pick(struct stack *s, uint64_t depth)
{
	if (depth >= s->n)
		s->bad = 1;
	else
		push(s, s->value[s->n - 1 - depth]);
}

static void push_register(struct stack *s, const struct ct_regs *regs, uint64_t number,
			  int64_t offset)
{
	uint64_t value = 0;

	if (number == CT_REG_PC)
		value = regs->pc;
	else if (ct_regs_knows(regs, number))
		value = regs->value[number];
	else
		s->bad = 1;
	push(s, value + (uint64_t)offset);
}

static void dereference(struct stack *s)
{
	uint64_t value = 0;

	if (ct_peek((uintptr_t)pop(s), &value, sizeof(value)) != sizeof(value))
		s->bad = 1;
	push(s, value);
}

/* DW_OP_ codes. */
enum {
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST8S = 0x0f,
	OP_CONSTU = 0x10,
	OP_CONSTS = 0x11,
	OP_DUP = 0x12,
	OP_DROP = 0x13,
	OP_OVER = 0x14,
	OP_PICK = 0x15,
	OP_SWAP = 0x16,
	OP_ABS = 0x19,
	OP_AND = 0x1a,
	OP_MINUS = 0x1c,
	OP_MUL = 0x1e,
	OP_NEG = 0x1f,
	OP_NOT = 0x20,
	OP_OR = 0x21,
	OP_PLUS = 0x22,
	OP_PLUS_UCONST = 0x23,
	OP_SHL = 0x24,
	OP_SHR = 0x25,
	OP_SHRA = 0x26,
	OP_XOR = 0x27,
	OP_EQ = 0x29,
	OP_GE = 0x2a,
	OP_GT = 0x2b,
	OP_LE = 0x2c,
	OP_LT = 0x2d,
	OP_NE = 0x2e,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_NOP = 0x96,
};

static uint64_t two_operands(struct stack *s, unsigned op)
{
	uint64_t b = pop(s), a = pop(s);
	unsigned shift = (unsigned)b & 63;

	switch (op) {
	case OP_AND:
		return a & b;
	case OP_MINUS:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_OR:
		return a | b;
	case OP_PLUS:
		return a + b;
	case OP_SHL:
		return b < 64 ? a << shift : 0;
	case OP_SHR:
		return b < 64 ? a >> shift : 0;
	case OP_SHRA:
		return (uint64_t)((int64_t)a >> (b < 64 ? shift : 63));
	case OP_XOR:
		return a ^ b;
	case OP_EQ:
		return a == b;
	case OP_GE:
		return (int64_t)a >= (int64_t)b;
	case OP_GT:
		return (int64_t)a > (int64_t)b;
	case OP_LE:
		return (int64_t)a <= (int64_t)b;
	case OP_LT:
		return (int64_t)a < (int64_t)b;
	case OP_NE:
		return a != b;
	}
	s->bad = 1;
	return 0;
}

static void operation(struct stack *s, struct ct_bytes *b, const struct ct_regs *regs)
{
	unsigned op = (unsigned)ct_bytes_number(b, 1);
	uint64_t value;

	if (op >= OP_LIT0 && op <= OP_LIT31) {
		push(s, op - OP_LIT0);
	} else if (op >= OP_BREG0 && op <= OP_BREG31) {
		push_register(s, regs, op - OP_BREG0, ct_bytes_sleb(b));
	} else if (op >= OP_CONST1U && op <= OP_CONST8S) {
		unsigned size = 1u << (op - OP_CONST1U) / 2;

		push(s, op & 1 ? (uint64_t)ct_bytes_signed(b, size) : ct_bytes_number(b, size));
	} else {
		switch (op) {
		case OP_DEREF:
			dereference(s);
			break;
		case OP_CONSTU:
			push(s, ct_bytes_uleb(b));
			break;
		case OP_CONSTS:
			push(s, (uint64_t)ct_bytes_sleb(b));
			break;
		case OP_DUP:
			pick(s, 0);
			break;
		case OP_DROP:
			pop(s);
			break;
		case OP_OVER:
			pick(s, 1);
			break;
		case OP_PICK:
			pick(s, ct_bytes_number(b, 1));
			break;
		case OP_SWAP:
			pick(s, 1);
			if (s->n >= 3) {
				value = s->value[s->n - 2];
				s->value[s->n - 3] = value;
				s->value[s->n - 2] = s->value[s->n - 1];
				s->n--;
			}
			break;
		case OP_NEG:
			push(s, -pop(s));
			break;
		case OP_NOT:
			push(s, ~pop(s));
			break;
		case OP_ABS:
			value = pop(s);
			push(s, (int64_t)value < 0 ? -value : value);
			break;
		case OP_PLUS_UCONST:
			push(s, pop(s) + ct_bytes_uleb(b));
			break;
		case OP_BREGX:
			value = ct_bytes_uleb(b);
			push_register(s, regs, value, ct_bytes_sleb(b));
			break;
		case OP_NOP:
			break;
		default:
			push(s, two_operands(s, op));
		}
	}
}

int ct_expression(struct ct_bytes expression, const struct ct_regs *regs, const uint64_t *start,
		  uint64_t *value)
{
	struct stack s = { .n = 0 };

	if (start)
		push(&s, *start);
	for (unsigned i = 0; expression.at < expression.end; i++) {
		operation(&s, &expression, regs);
		if (s.bad || expression.bad || i == MOST_OPERATIONS)
			return -1;
	}
	*value = pop(&s);
	return s.bad ? -1 : 0;
}
