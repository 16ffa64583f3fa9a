/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_fixture.h — a ring, a stand-in for the driver (fake_cuda.h) with one context and one stream,
 * and what became of launches on it. Every test starts with nothing known and ends with no poll
 * thread. */
#ifndef CT_TESTS_INTERPOSE_GPU_FIXTURE_H
#define CT_TESTS_INTERPOSE_GPU_FIXTURE_H

#include "interpose/gpu/record.h"
#include "interpose/gpu/time.h"
#include "tests/interpose/fake_cuda.h"

#define SECOND_NS 1000000000ull

/* Wait until the poll thread has done it; a test whose condition never holds ends by its timeout. */
#define WAIT_FOR(what)                                                                             \
	while (!(what))                                                                            \
	usleep(500)

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

extern CUcontext context; /* of device 3 */
extern CUstream stream;	  /* on it, the program's */

int set_up(void **state);
int set_up_small(void **state); /* a ring whose open launches are fewer than there are events */
int tear_down(void **state);

/* End the poll thread in order. */
void finish(void);

/* Until the current context, the nth that is known, is served: its events are made, and a look that
 * took an anchor is over. */
void wait_for_events_of(unsigned nth);
void wait_for_events(void);

/* A launch of two ops of 4096 bytes on communicator 5; begin() numbers them from 1. */
struct ct_gpu_launch make_launch(CUstream on);
struct ct_gpu_span *begin(CUstream on);

/* One that is reached and done at once. */
void pass(CUstream on);

/* How many LAUNCH records the ring has with this id, and the last of them; or the only one. */
int records(uint32_t id, struct ct_launch *launch);
struct ct_launch the_record(uint32_t id);

/* NULL if it is not open. */
struct ct_ring_open *open_entry(uint32_t id);

uint64_t losses(enum ct_loss reason);
void assert_no_losses(void);
void assert_near(uint64_t ns, uint32_t err_ns, uint64_t truth_ns);
void assert_untimed(const struct ct_launch *launch);

#endif
