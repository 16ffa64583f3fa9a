/* SPDX-License-Identifier: Apache-2.0 */
/* MPI's wrappers before a library that says it is any MPI: which flavour it is, what is asked of it
 * and when, and which function a call reaches. What real libraries do is looked at in tests/mpi. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/mpi/mpi.h"
#include "interpose/mpi/parts.h"
#include "tests/interpose/fake_mpi.h"
#include "tests/interpose/recorded_lists.h"
#include "trace/ops.h"

#define MUST(condition)                                                                            \
	do {                                                                                       \
		if (!(condition))                                                                  \
			_Exit(__LINE__ % 200 + 20);                                                \
	} while (0)

static const char mpich_text[] = "MPICH Version:\t4.0.2\nMPICH Release date:\tnever\n";
#define MPICH_WORLD 0x44000000u
#define MPICH_DOUBLE 0x4c00080bu
#define MPICH_SUM 0x58000003u

static void is_mpich(void)
{
	fake_mpi_is(mpich_text, 0, UINT32_MAX, MPICH_WORLD);
}

/* A body runs in a child, where assertions are MUST; afterwards its records are looked at. */
static const struct recorded_lists *records_of(void (*body)(void))
{
	assert_int_equal(recorded_run(body, NULL), 0);
	return recorded_lists(0);
}

static void the_flavour_is_what_the_library_says(void **state)
{
	(void)state;
	assert_int_equal(ct_mpi_flavour_of("Open MPI v4.1.4, package: Debian", 0, 1),
			 CT_MPI_OPENMPI);
	assert_int_equal(ct_mpi_flavour_of("IBM Spectrum MPI", -1, 1), CT_MPI_OPENMPI);
	assert_int_equal(ct_mpi_flavour_of(mpich_text, -1, 0), CT_MPI_MPICH);
	assert_int_equal(ct_mpi_flavour_of("Intel(R) MPI Library 2021.9", 0, 0), CT_MPI_MPICH);
	assert_int_equal(ct_mpi_flavour_of("MVAPICH2 Version: 2.3", 0, 0), CT_MPI_MPICH);
	assert_int_equal(ct_mpi_flavour_of("CRAY MPICH version 8", 0, 0), CT_MPI_MPICH);
	/* an MPICH in a process that also has Open MPI's data */
	assert_int_equal(ct_mpi_flavour_of(mpich_text, 0, 1), CT_MPI_MPICH);
	/* the ABI is what counts, not its maker */
	assert_int_equal(ct_mpi_flavour_of(mpich_text, 1, 0), CT_MPI_STANDARD);
	assert_int_equal(ct_mpi_flavour_of("Open MPI v6", 5, 1), CT_MPI_STANDARD);
	assert_int_equal(ct_mpi_flavour_of("Open MPI v4.1.4", 0, 0), CT_MPI_UNKNOWN);
	assert_int_equal(ct_mpi_flavour_of("LAM/MPI", 0, 0), CT_MPI_UNKNOWN);
}

static int all_reduce(uintptr_t garbage, int n)
{
	double in = 1, out;

	return ct_MPI_Allreduce(&in, &out, n, MPICH_DOUBLE | garbage, MPICH_SUM | garbage,
				MPICH_WORLD | garbage);
}

static void with_garbage(void)
{
	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	MUST(all_reduce(0, 5) == 0);
	MUST(all_reduce(0xdeadbeefull << 32, 6) == 0);
	MUST(all_reduce(0xffffffffull << 32, 7) == 0);
	MUST(fake_mpi.asked_wrongly == 0);
}

static void what_is_above_an_mpich_handle_is_nothing(void **state)
{
	const struct recorded_lists *r = records_of(with_garbage);

	(void)state;
	assert_null(recorded_unseen(r, "MPI_UNKNOWN"));
	assert_string_equal(recorded_fact(r, "lib.mpi.version"), "MPICH Version: 4.0.2");
	assert_string_equal(recorded_fact(r, "lib.mpi.flavour"), "mpich");
	assert_int_equal(r->n_comms, 1);
	assert_int_equal(r->comms[0].nranks, FAKE_SIZE);
	assert_int_equal(r->comms[0].rank, FAKE_RANK);
	assert_int_equal(r->comms[0].backend, CT_BACKEND_MPI);
	assert_int_equal(r->n_ops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(r->ops[i].op, CT_OP_AllReduce);
		assert_int_equal(r->ops[i].comm, r->comms[0].id);
		assert_int_equal(r->ops[i].seq, i);
		assert_int_equal(r->ops[i].count, 5 + i);
		assert_int_equal(r->ops[i].dtype, CT_DTYPE_float64);
		assert_int_equal(r->ops[i].redop, CT_REDOP_sum);
		assert_int_equal(r->ops[i].launch, 0);
	}
}

#define MPICH_OTHER 0x84000001u
static void unmet_communicator(void)
{
	double in = 1, out;

	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	MUST(ct_MPI_Allreduce(&in, &out, 1, MPICH_DOUBLE, MPICH_SUM, MPICH_OTHER) == 0);
	/* known now, so this one is on record */
	MUST(ct_MPI_Allreduce(&in, &out, 2, MPICH_DOUBLE, MPICH_SUM, MPICH_OTHER) == 0);
}

static void a_communicator_that_was_not_seen_made_is_met_by_its_first_call(void **state)
{
	const struct recorded_lists *r = records_of(unmet_communicator);

	(void)state;
	assert_int_equal(r->n_comms, 2);
	assert_int_equal(r->n_ops, 1);
	assert_int_equal(r->ops[0].count, 2);
	assert_int_equal(r->ops[0].comm, r->comms[1].id);
	assert_true(r->ops[0].enter_ns >= r->comms[1].created_ns);
	assert_true(r->ops[0].return_ns >= r->ops[0].enter_ns);
}

static void standard_abi(void)
{
	double in = 1, out;

	fake_mpi_is(mpich_text, 1, UINTPTR_MAX, 0x101);
	fake_mpi.is_initialised = 1; /* its beginning passed unseen */
	MUST(ct_MPI_Allreduce(&in, &out, 5, 0x214, 0x23, 0x101) == 0);
	MUST(fake_mpi.asked_wrongly == 0);
}

static void a_library_of_the_standard_abi_is_met_at_its_first_call(void **state)
{
	const struct recorded_lists *r = records_of(standard_abi);

	(void)state;
	assert_int_equal(r->n_ops, 1);
	assert_int_equal(r->n_begins, 0);
	assert_int_equal(r->ops[0].dtype, CT_DTYPE_float64);
	assert_int_equal(r->ops[0].redop, CT_REDOP_max);
}

static void unknown_library(void)
{
	fake_mpi_is("LAM/MPI 7.1.4", 0, UINT32_MAX, MPICH_WORLD);
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	fake_mpi.result = 13;
	fake_mpi.asked = 0;
	for (int i = 0; i < 100; i++)
		MUST(all_reduce(0, 1) == 13);
	MUST(fake_mpi.data_calls == 100 && fake_mpi.asked == 0);
}

static void a_library_of_no_known_flavour_is_left_alone(void **state)
{
	const struct recorded_lists *r = records_of(unknown_library);

	(void)state;
	assert_int_equal(r->n_ops, 0);
	assert_int_equal(r->n_comms, 0);
	/* and the trace says why */
	assert_non_null(recorded_unseen(r, "MPI_UNKNOWN"));
	assert_non_null(strstr(recorded_unseen(r, "MPI_UNKNOWN"), "libfake_mpi"));
	assert_string_equal(recorded_fact(r, "lib.mpi.version"), "LAM/MPI 7.1.4");
	assert_null(recorded_fact(r, "lib.mpi.flavour"));
}

static void too_early_and_too_late(void)
{
	int asked;

	is_mpich();
	MUST(all_reduce(0, 1) == 0); /* a real library would say that this is wrong */
	MUST(fake_mpi.asked == 0);
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	MUST(all_reduce(0, 2) == 0);
	MUST(ct_MPI_Finalize() == 0);
	asked = fake_mpi.asked;
	MUST(all_reduce(0, 3) == 0);
	MUST(fake_mpi.asked == asked && fake_mpi.asked_wrongly == 0);
	MUST(fake_mpi.data_calls == 3);
}

static void nothing_is_asked_before_the_beginning_or_after_the_end(void **state)
{
	const struct recorded_lists *r = records_of(too_early_and_too_late);

	(void)state;
	assert_int_equal(r->n_ops, 1);
	assert_int_equal(r->ops[0].count, 2);
	assert_non_null(recorded_host(r, "MPI_Init", 0));
	assert_int_equal(recorded_host(r, "MPI_Init", 0)->rank, FAKE_RANK);
	assert_int_equal(recorded_host(r, "MPI_Init", 0)->nranks, FAKE_SIZE);
	assert_non_null(recorded_host(r, "MPI_Finalize", 0));
}

static void both_names(void)
{
	double in = 1, out;

	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	MUST(all_reduce(0, 1) == 0);
	MUST(fake_mpi.data_calls == 1 && fake_mpi.pdata_calls == 1);
	MUST(ct_PMPI_Allreduce(&in, &out, 2, MPICH_DOUBLE, MPICH_SUM, MPICH_WORLD) == 0);
	MUST(fake_mpi.data_calls == 1 && fake_mpi.pdata_calls == 2);
}

static void each_name_reaches_its_own_and_a_call_is_recorded_once(void **state)
{
	const struct recorded_lists *r = records_of(both_names);

	(void)state;
	assert_int_equal(r->n_ops, 2);
	assert_int_equal(r->ops[0].count, 1);
	assert_int_equal(r->ops[1].count, 2);
}

static void errors(void)
{
	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	fake_mpi.result = 0x0c08db0f;
	errno = 0;
	MUST(all_reduce(0, 1) == 0x0c08db0f);
	MUST(errno == 77);
	MUST(all_reduce(0, 1) == 0x0c08db0f); /* recorded once */
	/* a weak reference finds a wrapper without a function behind it */
	MUST(ct_MPI_Bcast_c(NULL, 0, 0, 0, MPICH_WORLD) != CT_MPI_SUCCESS);
}

static void an_error_is_handed_on_and_its_class_recorded(void **state)
{
	const struct recorded_lists *r = records_of(errors);

	(void)state;
	assert_int_equal(r->n_ops, 2);
	assert_int_equal(r->ops[0].result, 0x0f);
	assert_int_equal(r->n_errors, 1);
	assert_int_equal(r->errors[0].result, 0x0f);
	assert_int_equal(r->errors[0].backend, CT_BACKEND_MPI);
	assert_int_equal(r->errors[0].comm, r->ops[0].comm);
	assert_true(r->errors[0].key == r->comms[r->ops[0].comm - 1].key);
	assert_string_equal(recorded_name(r, r->errors[0].call), "MPI_Allreduce");
	assert_string_equal(recorded_name(r, r->errors[0].text), "error 201906959");
}

#define NO_TYPE 0x12345678u
static void gathers(void)
{
	void *in_place = (void *)-1;
	double data[8] = { 0 };

	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	/* away from the root, and at the root; MPI_IN_PLACE; a type of the program's own */
	ct_MPI_Gather(data, 3, MPICH_DOUBLE, NULL, 99, NO_TYPE, 2, MPICH_WORLD);
	ct_MPI_Gather(data, 3, MPICH_DOUBLE, data, 3, MPICH_DOUBLE, FAKE_RANK, MPICH_WORLD);
	ct_MPI_Gather(in_place, 99, NO_TYPE, data, 4, MPICH_DOUBLE, FAKE_RANK, MPICH_WORLD);
	ct_MPI_Gather(data, 2, 0x8c0000ff, NULL, 99, NO_TYPE, 0, MPICH_WORLD);
	ct_MPI_Gather(data, 0, MPICH_DOUBLE, NULL, 99, NO_TYPE, 0, MPICH_WORLD);
	MUST(fake_mpi.asked_wrongly == 0);
}

static void only_significant_arguments_are_looked_at(void **state)
{
	static const struct {
		uint64_t count;
		int dtype, root;
	} told[] = { { 3, CT_DTYPE_float64, 2 },
		     { 3, CT_DTYPE_float64, FAKE_RANK },
		     { 4, CT_DTYPE_float64, FAKE_RANK },
		     { 48, CT_DTYPE_elem1, 0 },
		     { 0, CT_DTYPE_float64, 0 } };
	const struct recorded_lists *r = records_of(gathers);

	(void)state;
	assert_int_equal(r->n_ops, sizeof(told) / sizeof(told[0]));
	for (uint32_t i = 0; i < r->n_ops; i++) {
		assert_int_equal(r->ops[i].count, told[i].count);
		assert_int_equal(r->ops[i].dtype, told[i].dtype);
		assert_int_equal(r->ops[i].peer, told[i].root);
	}
}

/* What the program does with its arrays afterwards is its own affair. */
static void persistent(void)
{
	double data[64] = { 0 };
	int at[FAKE_SIZE] = { 0 }, counts[FAKE_SIZE];
	uint32_t request;

	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	for (int life = 0; life < 2 * (int)CT_MPI_PARTS_ROWS; life++) {
		for (int i = 0; i < FAKE_SIZE; i++)
			counts[i] = 10 * life + i;
		MUST(ct_MPI_Alltoallv_init(data, counts, at, MPICH_DOUBLE, data, counts, at,
					   MPICH_DOUBLE, MPICH_WORLD, 0, &request) == 0);
		memset(counts, 0x55, sizeof(counts));
		for (int start = 0; life < 2 && start < 2; start++)
			MUST(ct_MPI_Start(&request) == 0);
		MUST(ct_MPI_Request_free(&request) == 0);
	}
}

static void every_start_of_a_persistent_collective_reports_the_counts_it_was_made_with(void **state)
{
	const struct recorded_lists *r = records_of(persistent);

	(void)state;
	assert_int_equal(r->n_ops, 4);
	assert_int_equal(r->n_vcounts, 4 * ((FAKE_SIZE + CT_VCOUNTS_PART - 1) / CT_VCOUNTS_PART));
	for (uint32_t v = 0; v < r->n_vcounts; v++) {
		const struct ct_vcounts_rec *rec = &r->vcounts[v];

		assert_int_equal(rec->comm, r->comms[0].id);
		assert_in_range(rec->seq, 0, 3);
		for (uint32_t i = 0; i < rec->n; i++)
			assert_int_equal(rec->counts[i], 10 * (rec->seq / 2) + rec->first + i);
	}
	assert_int_equal(r->losses[CT_LOSS_REQUESTS_FULL], 0);
}

static void *call_often(void *arg)
{
	for (int i = 0; i < 50; i++)
		if (all_reduce(0, 1) != 0)
			return arg;
	return NULL;
}

static void first_calls_at_once(void)
{
	pthread_t threads[4];
	void *bad;

	is_mpich();
	fake_mpi.is_initialised = 1;
	for (int i = 0; i < 4; i++)
		MUST(pthread_create(&threads[i], NULL, call_often, &fake_mpi) == 0);
	for (int i = 0; i < 4; i++)
		MUST(pthread_join(threads[i], &bad) == 0 && !bad);
	MUST(fake_mpi.data_calls == 200 && fake_mpi.asked_wrongly == 0);
}

static void threads_that_meet_the_library_at_once_lose_no_call(void **state)
{
	const struct recorded_lists *r = records_of(first_calls_at_once);

	(void)state;
	assert_int_equal(r->n_comms, 1);
	assert_int_equal(r->n_ops, 200);
	for (int i = 0; i < CT_LOSS_MAX; i++)
		assert_int_equal(r->losses[i], 0);
}

static void switched_off(void)
{
	is_mpich();
	MUST(ct_MPI_Init(NULL, NULL) == 0);
	MUST(all_reduce(0, 1) == 0);
	MUST(fake_mpi.asked == 0);
}

static void a_backend_that_is_not_wanted_is_not_recorded(void **state)
{
	static const char *const env[] = { "COMMTRACE_BACKENDS=gloo", NULL };

	(void)state;
	assert_int_equal(recorded_run(switched_off, env), 0);
	assert_int_equal(recorded_lists(0)->n_ops, 0);
	assert_int_equal(recorded_lists(0)->n_comms, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_flavour_is_what_the_library_says),
		cmocka_unit_test(what_is_above_an_mpich_handle_is_nothing),
		cmocka_unit_test(a_communicator_that_was_not_seen_made_is_met_by_its_first_call),
		cmocka_unit_test(a_library_of_the_standard_abi_is_met_at_its_first_call),
		cmocka_unit_test(a_library_of_no_known_flavour_is_left_alone),
		cmocka_unit_test(nothing_is_asked_before_the_beginning_or_after_the_end),
		cmocka_unit_test(each_name_reaches_its_own_and_a_call_is_recorded_once),
		cmocka_unit_test(an_error_is_handed_on_and_its_class_recorded),
		cmocka_unit_test(only_significant_arguments_are_looked_at),
		cmocka_unit_test(
			every_start_of_a_persistent_collective_reports_the_counts_it_was_made_with),
		cmocka_unit_test(threads_that_meet_the_library_at_once_lose_no_call),
		cmocka_unit_test(a_backend_that_is_not_wanted_is_not_recorded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
