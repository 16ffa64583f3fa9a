// SPDX-License-Identifier: Apache-2.0
// Exceptions and cancellations pass through the wrappers, and what they leave is recorded as left.
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdint>

extern "C" {
#include <cmocka.h>
}

#include <atomic>
#include <cstring>
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "tests/interpose/fake_gloo.h"

// The headers of the reader are C11, atomics and all: recorded_cxx.c stands between.
extern "C" {
struct unwound {
	uint64_t ops, unreturned, exceptions, launches, launches_thrown, hosts, hosts_thrown, errors;
	char words[64];
};
int unwound_run(void (*body)(void));
struct unwound unwound_read(void);
void unwound_remove(void);
}

// A cancelled thread runs into a fault of AddressSanitizer's own (it takes the signal stack of a thread that has gone).
#if defined(__SANITIZE_ADDRESS__)
#define CANCEL 0
#elif defined(__has_feature)
#define CANCEL !__has_feature(address_sanitizer)
#else
#define CANCEL 1
#endif

namespace
{

fake_context context = { nullptr, 0, 2, {}, nullptr, {} };

void throw_something(void *)
{
	throw std::runtime_error("connection closed by peer");
}

void barrier(uint32_t tag)
{
	fake_options o = { &context, {}, tag, 0, nullptr };

	gloo_barrier(&o);
}

[[noreturn]] void fail_job()
{
	_exit(9);
}

void exception_job()
{
	barrier(0);
	fake_set_body(throw_something);
	for (uint32_t i = 1; i <= 3; i++) {
		try {
			barrier(i);
			fail_job();
		} catch (const std::runtime_error &e) {
			if (e.what() != std::string("connection closed by peer"))
				fail_job();
		}
	}
	fake_set_body(nullptr);
	barrier(4);
}

void an_exception_passes_and_ends_the_op(void **)
{
	assert_int_equal(unwound_run(exception_job), 0);
	const unwound u = unwound_read();
	assert_int_equal(u.ops, 5);
	assert_int_equal(u.exceptions, 3);
	assert_int_equal(u.unreturned, 0);
	assert_int_equal(u.errors, 1); // the first of its kind
	assert_string_equal(u.words, "connection closed by peer");
}

#if CANCEL
std::atomic<bool> asleep;

void sleep_for_ever(void *)
{
	asleep = true;
	for (;;)
		pause();
}

void *sleeper(void *)
{
	barrier(1);
	return nullptr;
}

void cancel_job()
{
	pthread_t thread;
	void *result = nullptr;

	barrier(0);
	fake_set_body(sleep_for_ever);
	if (pthread_create(&thread, nullptr, sleeper, nullptr) != 0)
		fail_job();
	while (!asleep)
		usleep(1000);
	pthread_cancel(thread);
	pthread_join(thread, &result);
	if (result != PTHREAD_CANCELED)
		fail_job();
	fake_set_body(nullptr);
	barrier(2);
}

void a_cancelled_thread_ends_its_op(void **)
{
	assert_int_equal(unwound_run(cancel_job), 0);
	const unwound u = unwound_read();
	assert_int_equal(u.ops, 3);
	assert_int_equal(u.exceptions, 1);
	assert_int_equal(u.unreturned, 0);
}

#endif

void mesh_job()
{
	fake_set_body(throw_something);
	try {
		gloo_mesh(&context, nullptr, nullptr);
		fail_job();
	} catch (const std::runtime_error &) {
	}
	fake_set_body(nullptr);
	gloo_mesh(&context, nullptr, nullptr);
	barrier(0);
}

void a_mesh_that_cannot_be_connected_is_told(void **)
{
	assert_int_equal(unwound_run(mesh_job), 0);
	const unwound u = unwound_read();
	assert_int_equal(u.hosts, 2);
	assert_int_equal(u.hosts_thrown, 1);
	assert_int_equal(u.ops, 1);
	assert_int_equal(u.errors, 1);
	assert_string_equal(u.words, "connection closed by peer");
}

void send_job()
{
	fake_transport transport = { nullptr, 0, 2 };
	fake_buffer buffer = { nullptr, nullptr, 64, &transport };

	fake_set_body(throw_something);
	try {
		gloo_send(&buffer, 1, 0, 0, 64);
		fail_job();
	} catch (const std::runtime_error &) {
	}
	fake_set_body(nullptr);
	gloo_send(&buffer, 1, 0, 0, 64);
}

void a_transfer_that_cannot_begin_ends_its_launch(void **)
{
	assert_int_equal(unwound_run(send_job), 0);
	const unwound u = unwound_read();
	assert_int_equal(u.ops, 2);
	assert_int_equal(u.exceptions, 1);
	assert_int_equal(u.launches, 1);
	assert_int_equal(u.launches_thrown, 1);
	assert_int_equal(u.errors, 1);
	assert_string_equal(u.words, "connection closed by peer");
}

struct odd_error {
	int code = 3;
	virtual ~odd_error() = default;
};

void throw_odd(void *)
{
	throw odd_error();
}

void odd_job()
{
	fake_set_body(throw_odd);
	try {
		barrier(0);
		fail_job();
	} catch (const odd_error &) {
	}
}

// Of any other only the type is told: what lies in it is not known.
void of_an_exception_that_is_not_known_the_type_is_told(void **)
{
	assert_int_equal(unwound_run(odd_job), 0);
	const unwound u = unwound_read();
	assert_int_equal(u.exceptions, 1);
	assert_int_equal(u.errors, 1);
	assert_non_null(std::strstr(u.words, "odd_error"));
}

} // namespace

int main()
{
	const CMUnitTest tests[] = {
		cmocka_unit_test(an_exception_passes_and_ends_the_op),
#if CANCEL
		cmocka_unit_test(a_cancelled_thread_ends_its_op),
#endif
		cmocka_unit_test(a_mesh_that_cannot_be_connected_is_told),
		cmocka_unit_test(a_transfer_that_cannot_begin_ends_its_launch),
		cmocka_unit_test(of_an_exception_that_is_not_known_the_type_is_told),
	};
	int failed = cmocka_run_group_tests_name("unwind", tests, nullptr, nullptr);

	unwound_remove();
	return failed;
}
