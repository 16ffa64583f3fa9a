/* SPDX-License-Identifier: Apache-2.0 */
/* A dlsym behind the preload's: it writes down what it is called with and goes on to the loader's. */
	.text
	.globl	dlsym
	.type	dlsym, %function
dlsym:
	adrp	x16, registers_last
	add	x16, x16, :lo12:registers_last
	stp	x0, x1, [x16]
	stp	x2, x3, [x16, #16]
	stp	x4, x5, [x16, #32]
	stp	x6, x7, [x16, #48]
	stp	x8, x30, [x16, #64]
	mov	x17, sp
	str	x17, [x16, #80]
	stp	q0, q1, [x16, #96]
	stp	q2, q3, [x16, #128]
	stp	q4, q5, [x16, #160]
	stp	q6, q7, [x16, #192]
	adrp	x17, registers_loaders_dlsym
	ldr	x17, [x17, :lo12:registers_loaders_dlsym]
	cbz	x17, 1f
	br	x17
1:	mov	x0, #0
	ret
	.size	dlsym, . - dlsym
	.section .note.GNU-stack, "", %progbits
