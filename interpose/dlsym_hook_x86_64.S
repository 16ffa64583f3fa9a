/* SPDX-License-Identifier: Apache-2.0 */
/* void *ct_dlsym_hook(void *handle, const char *symbol): see dlsym_hook.h. The stack is as the caller left it when
 * the real dlsym is jumped to. */
#ifdef __CET__
#include <cet.h>
#else
#define _CET_ENDBR
#endif

	.text
#ifdef CT_DLSYM_EXPORT
	.globl	dlsym
	.type	dlsym, @function
#endif
	.globl	ct_dlsym_hook
	.hidden	ct_dlsym_hook
	.type	ct_dlsym_hook, @function
	.p2align 4
#ifdef CT_DLSYM_EXPORT
dlsym:
#endif
ct_dlsym_hook:
	.cfi_startproc
	_CET_ENDBR
	movq	(%rsp), %rdx
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	ct_dlsym_look
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	testq	%rdx, %rdx
	jnz	1f
	ret
1:	jmp	*%rdx
	.cfi_endproc
	.size	ct_dlsym_hook, . - ct_dlsym_hook
#ifdef CT_DLSYM_EXPORT
	.size	dlsym, . - dlsym
#endif
	.section .note.GNU-stack, "", @progbits
