/* SPDX-License-Identifier: Apache-2.0 */
/* fake_c10d.h — see fake_c10d.c. */
#ifndef CT_TESTS_INTERPOSE_FAKE_C10D_H
#define CT_TESTS_INTERPOSE_FAKE_C10D_H

#define FAKE_POINTER                                                                               \
	"intrusive_ptrINS0_9AsyncWorkENS1_6detail34intrusive_target_default_null_typeIS3_EEEE"
#define FAKE_ENQUEUE "_ZN4c10d16ProcessGroupGloo7enqueueEN3c1013" FAKE_POINTER
#define FAKE_TARGET "intrusive_ptrIS1_NS2_6detail34intrusive_target_default_null_typeIS1_EEEE"
#define FAKE_EXECUTE "_ZN4c10d16ProcessGroupGloo9AsyncWork7executeEN3c1013" FAKE_TARGET
#define FAKE_EXECUTE_CONST "_ZN4c10d16ProcessGroupGloo9AsyncWork7executeERKN3c1013" FAKE_TARGET

struct fake_work {
	void (*run)(struct fake_work *work);
	int queued;
	int number;
};

/* What the test program calls; in it the wrappers stand before them. */
void c10d_enqueue(void *group, struct fake_work **work) __asm__(FAKE_ENQUEUE);
void c10d_execute(struct fake_work **work) __asm__(FAKE_EXECUTE);
void c10d_execute_const(struct fake_work **work) __asm__(FAKE_EXECUTE_CONST);

#endif
