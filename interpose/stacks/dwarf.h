/* SPDX-License-Identifier: Apache-2.0 */
/* dwarf.h — reading DWARF's numbers, expressions, and the programs that locate registers. Private
 * to cfi.h. One thread. */
#ifndef CT_INTERPOSE_STACKS_DWARF_H
#define CT_INTERPOSE_STACKS_DWARF_H

#include <stddef.h>
#include <stdint.h>

#include "interpose/stacks/regs.h"

/* Bytes to be read once, from the front. Beyond the end everything is 0, and `bad` is set. */
struct ct_bytes {
	const uint8_t *at, *end;
	int bad;
};

uint64_t ct_bytes_number(struct ct_bytes *bytes, unsigned size); /* little-endian, 1 to 8 bytes */
int64_t ct_bytes_signed(struct ct_bytes *bytes, unsigned size);
uint64_t ct_bytes_uleb(struct ct_bytes *bytes);
int64_t ct_bytes_sleb(struct ct_bytes *bytes);
/* The next `len` bytes as a part of their own. */
struct ct_bytes ct_bytes_take(struct ct_bytes *bytes, uint64_t len);

/* Where a register of the caller is. */
struct ct_rule {
	enum {
		CT_RULE_NONE, /* as it is, if functions have to keep it */
		CT_RULE_UNDEFINED,
		CT_RULE_SAME,
		CT_RULE_AT,	  /* in memory, `offset` from the frame's address */
		CT_RULE_IS,	  /* the frame's address + `offset` itself */
		CT_RULE_REGISTER, /* in register `offset` */
		CT_RULE_AT_EXPRESSION,
		CT_RULE_IS_EXPRESSION,
	} how;
	int64_t offset;
	struct ct_bytes expression;
};

#define CT_RULES 33u /* fact: registers 0 to 31, and aarch64's return address, number 32 */

/* What holds at one address of the code. */
struct ct_row {
	uint64_t frame_register;	  /* the frame's address is this ... */
	int64_t frame_offset;		  /* ... + this, */
	struct ct_bytes frame_expression; /* unless there is one */
	struct ct_rule rules[CT_RULES];
};

/* Common to all programs of a table. */
struct ct_program {
	uint64_t code_unit;
	int64_t data_unit;
};

/* Runs a program that begins at `begin` up to the rules for `pc`, from *row on; `first` is what its
 * table begins with. 0, or -1 if it makes no sense. */
int ct_program_run(struct ct_bytes program, const struct ct_program *of, uint64_t begin,
		   uint64_t pc, const struct ct_row *first, struct ct_row *row);

/* The value of an expression; `start` is put on its stack first, unless it is NULL. 0, or -1 if it
 * is not known. */
int ct_expression(struct ct_bytes expression, const struct ct_regs *regs, const uint64_t *start,
		  uint64_t *value);

#endif
