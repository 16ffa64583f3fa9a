/* SPDX-License-Identifier: Apache-2.0 */
/* holds_gil.c — an extension that never returns, and gives nothing else of Python a turn: called
 * through ctypes.PyDLL. */
#pragma GCC visibility push(default)
void holds_gil(void);
#pragma GCC visibility pop

static volatile unsigned long turns;

void holds_gil(void)
{
	for (;;)
		turns++;
}
