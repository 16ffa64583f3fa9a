/* SPDX-License-Identifier: Apache-2.0 */
/* void *ct_dlsym_hook(void *handle, const char *symbol): see dlsym_hook.h. The stack, the link register and every register that
 * may carry an argument are as the caller left them when the next dlsym is jumped to; through x16, which a landing pad for
 * branches lets pass. */
	.text
#ifdef CT_DLSYM_EXPORT
	.globl	dlsym
	.type	dlsym, %function
#endif
	.globl	ct_dlsym_hook
	.hidden	ct_dlsym_hook
	.type	ct_dlsym_hook, %function
	.p2align 4
#ifdef CT_DLSYM_EXPORT
dlsym:
#endif
ct_dlsym_hook:
	.cfi_startproc
	hint	#34			/* bti c */
	stp	x29, x30, [sp, #-224]!
	.cfi_def_cfa_offset 224
	.cfi_offset 29, -224
	.cfi_offset 30, -216
	mov	x29, sp
	stp	x0, x1, [sp, #16]
	stp	x2, x3, [sp, #32]
	stp	x4, x5, [sp, #48]
	stp	x6, x7, [sp, #64]
	str	x8, [sp, #80]
	stp	q0, q1, [sp, #96]
	stp	q2, q3, [sp, #128]
	stp	q4, q5, [sp, #160]
	stp	q6, q7, [sp, #192]
	mov	x2, x30
	bl	ct_dlsym_look
	mov	x16, x1
	cbnz	x16, 1f
	ldp	x29, x30, [sp], #224
	.cfi_remember_state
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	ret
	.cfi_restore_state
1:	ldp	x0, x1, [sp, #16]
	ldp	x2, x3, [sp, #32]
	ldp	x4, x5, [sp, #48]
	ldp	x6, x7, [sp, #64]
	ldr	x8, [sp, #80]
	ldp	q0, q1, [sp, #96]
	ldp	q2, q3, [sp, #128]
	ldp	q4, q5, [sp, #160]
	ldp	q6, q7, [sp, #192]
	ldp	x29, x30, [sp], #224
	.cfi_restore 29
	.cfi_restore 30
	.cfi_def_cfa_offset 0
	br	x16
	.cfi_endproc
	.size	ct_dlsym_hook, . - ct_dlsym_hook
#ifdef CT_DLSYM_EXPORT
	.size	dlsym, . - dlsym
#endif
	.section .note.GNU-stack, "", %progbits
