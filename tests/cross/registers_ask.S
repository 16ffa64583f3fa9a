/* SPDX-License-Identifier: Apache-2.0 */
	.text
	.globl	registers_ask
	.type	registers_ask, %function
registers_ask:
	stp	x29, x30, [sp, #-16]!
	mov	x29, sp
	adr	x9, 1f
	str	x9, [x1, #72]
	mov	x9, sp
	str	x9, [x1, #80]
	mov	x9, x0
	ldp	q0, q1, [x9, #96]
	ldp	q2, q3, [x9, #128]
	ldp	q4, q5, [x9, #160]
	ldp	q6, q7, [x9, #192]
	ldp	x2, x3, [x9, #16]
	ldp	x4, x5, [x9, #32]
	ldp	x6, x7, [x9, #48]
	ldr	x8, [x9, #64]
	ldp	x0, x1, [x9]
	bl	dlsym
1:	ldp	x29, x30, [sp], #16
	ret
	.size	registers_ask, . - registers_ask
	.section .note.GNU-stack, "", %progbits
