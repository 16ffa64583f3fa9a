/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/stacks/call.h"

#include <string.h>

#include "interpose/environ/peek.h"

#if defined(__x86_64__)

static int32_t number(const uint8_t *bytes)
{
	int32_t value;

	memcpy(&value, bytes, sizeof(value));
	return value;
}

/* The target of a linker stub: [endbr64] [bnd] jmp *slot(%rip); 0: it is none. */
static uintptr_t behind_stub(uintptr_t at)
{
	static const uint8_t endbr[4] = { 0xf3, 0x0f, 0x1e, 0xfa };
	uint8_t code[16];
	uintptr_t target;
	unsigned i = 0;

	if (ct_peek(at, code, sizeof(code)) != sizeof(code))
		return 0;
	if (memcmp(code, endbr, sizeof(endbr)) == 0)
		i = 4;
	if (code[i] == 0xf2)
		i++;
	if (code[i] != 0xff || code[i + 1] != 0x25)
		return 0;
	at += i + 6 + (uintptr_t)(intptr_t)number(code + i + 2);
	return ct_peek(at, &target, sizeof(target)) == sizeof(target) ? target : 0;
}

/* call *operand: ff /2 with 2 to 7 bytes, a prefix before it perhaps. */
static int is_indirect(const uint8_t code[8])
{
	for (unsigned len = 2; len <= 7; len++) {
		const uint8_t *p = code + 8 - len;
		unsigned mode = p[1] >> 6, low = p[1] & 7, want;

		if (p[0] != 0xff || (p[1] >> 3 & 7) != 2)
			continue;
		want = 2 + (mode == 1 ? 1u : mode == 2 ? 4u : 0u);
		if (mode != 3 && low == 4) {
			want++;
			if (mode == 0 && len > 2 && (p[2] & 7) == 5)
				want += 4;
		} else if (mode == 0 && low == 5) {
			want += 4;
		}
		if (want == len)
			return 1;
	}
	return 0;
}

enum ct_call_leads ct_call_leads(uintptr_t back, uintptr_t begin, uintptr_t end)
{
	uint8_t code[8];
	uintptr_t target;

	if (back < sizeof(code) || ct_peek(back - sizeof(code), code, sizeof(code)) != sizeof(code))
		return CT_CALL_NONE;
	if (code[3] == 0xe8) {
		target = back + (uintptr_t)(intptr_t)number(code + 4);
		if (target >= begin && target < end)
			return CT_CALL_HERE;
		target = behind_stub(target);
		if (target >= begin && target < end)
			return CT_CALL_HERE;
		if (!is_indirect(code))
			return CT_CALL_ELSEWHERE;
	}
	return is_indirect(code) ? CT_CALL_ANYWHERE : CT_CALL_NONE;
}

#elif defined(__aarch64__)

enum ct_call_leads ct_call_leads(uintptr_t back, uintptr_t begin, uintptr_t end)
{
	uint32_t code;
	uintptr_t target;

	if (back & 3 || back < 4 || ct_peek(back - 4, &code, sizeof(code)) != sizeof(code))
		return CT_CALL_NONE;
	if ((code & 0xfc000000u) == 0x94000000u) {
		target = back - 4 + (uintptr_t)(intptr_t)((int32_t)(code << 6) >> 4);
		/* the target of a linker stub is not followed further */
		return target >= begin && target < end ? CT_CALL_HERE : CT_CALL_ANYWHERE;
	}
	return (code & 0xfffffc1fu) == 0xd63f0000u ? CT_CALL_ANYWHERE : CT_CALL_NONE;
}

#endif
