/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as the memory of a thread that stands still: code, its tables for unwinding and the
 * stack are all in there, and what is known of its registers comes first. And as the kernel's map
 * of a process. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/stacks/cfi.h"
#include "interpose/stacks/walk.h"

#define REGISTERS 32u /* bytes in front: which offsets of the memory registers point to */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static struct ct_code_map map;

static void lay_out(const uint8_t *memory, size_t len)
{
	map.n = 1;
	map.code[0] = (struct ct_mapped_code){ .begin = (uintptr_t)memory,
					       .end = (uintptr_t)memory + len,
					       .image = (uintptr_t)memory,
					       .unwind = (uintptr_t)memory,
					       .is_read = 1 };
}

/* Addresses cannot be known beforehand: words that begin like this one mean an address in the
 * memory. */
static void relocate(uint8_t *memory, size_t len)
{
	for (size_t at = 0; at + 8 <= len; at += 8) {
		uint64_t word;

		memcpy(&word, memory + at, sizeof(word));
		if (word >> 32 != 0xc0decafe)
			continue;
		word = (uintptr_t)memory + (uint32_t)word % len;
		memcpy(memory + at, &word, sizeof(word));
	}
}

static uintptr_t address_of(const uint8_t *memory, size_t len, uint8_t what)
{
	return (uintptr_t)memory + len * what / 256;
}

static void step(const uint8_t *registers, const uint8_t *memory, size_t len)
{
	struct ct_regs regs = { .pc = address_of(memory, len, registers[0]) };
	uintptr_t begin, end;
	int is_signal;

	for (unsigned i = 0; i < CT_REGS; i++)
		if (registers[i] & 1)
			ct_regs_set(&regs, i, address_of(memory, len, registers[i]));
	for (unsigned i = 0; i < 8; i++)
		if (ct_cfi_step(&map.code[0], &regs, i & 1, &is_signal) != CT_CFI_STEPPED)
			break;
	ct_cfi_function(&map.code[0], regs.pc, &begin, &end);
}

static void walk(const uint8_t *registers, const uint8_t *memory, size_t len)
{
	struct ct_walk walk;

	ct_walk_sleeping(&walk, &map, address_of(memory, len, registers[0]),
			 address_of(memory, len, registers[CT_REG_SP]),
			 address_of(memory, len, registers[1]));
	if (walk.n > CT_WALK_FRAMES)
		abort();
	ct_walk_wrapper(&walk, &map, address_of(memory, len, registers[1]));
	if (walk.n > CT_WALK_FRAMES)
		abort();
}

/* Ranges that the kernel would not show in this order are searched without end or success. */
static void parse(const uint8_t *data, size_t len)
{
	ct_code_parse(&map, (const char *)data, len);
	for (uint32_t i = 0; i < map.n; i++) {
		if (strlen(ct_code_path(&map, &map.code[i])) >= CT_CODE_NAMES)
			abort();
		ct_code_find(&map, map.code[i].begin);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	uint8_t *memory;

	parse(data, len);
	if (len <= REGISTERS)
		return 0;
	/* its end is the end of what was allocated */
	memory = malloc(len - REGISTERS);
	if (!memory)
		return 0;
	memcpy(memory, data + REGISTERS, len - REGISTERS);
	relocate(memory, len - REGISTERS);
	lay_out(memory, len - REGISTERS);
	step(data, memory, len - REGISTERS);
	walk(data, memory, len - REGISTERS);
	free(memory);
	return 0;
}
