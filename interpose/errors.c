/* SPDX-License-Identifier: Apache-2.0 */
#include "interpose/errors.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/recorder.h"

#define SLOTS 1024u	/* size: as many as there are communicators at a time */
#define TEXT_BYTES 512u /* size: of the stack; the ring takes up to 1,000 bytes */

/* Communicator << 32 | reported results, one bit each, in the upper half those of earlier calls. If
 * two communicators share an entry, the later one replaces the earlier one, whose errors may then
 * be recorded again. */
static _Atomic uint64_t reported[SLOTS];
static _Atomic uint32_t any;
static void (*transfer_leave)(struct ct_frame *frame);

void ct_errors_init(void)
{
	for (uint32_t i = 0; i < SLOTS && atomic_load_explicit(&any, memory_order_relaxed); i++)
		atomic_store_explicit(&reported[i], 0, memory_order_relaxed);
	atomic_store_explicit(&any, 0, memory_order_relaxed);
}

void ct_errors_transfers(void (*leave)(struct ct_frame *frame))
{
	transfer_leave = leave;
}

int ct_error_is_new(const struct ct_error *error)
{
	uint32_t who = error->comm ? error->comm : 1u << 31 | error->call;
	uint64_t bit = 1ull << (((uint32_t)error->result & 15) + (error->is_async ? 16 : 0));
	_Atomic uint64_t *at = &reported[who % SLOTS];
	uint64_t was = atomic_load_explicit(at, memory_order_relaxed);
	uint64_t is;

	atomic_store_explicit(&any, 1, memory_order_relaxed);
	do {
		is = was >> 32 == who ? was : (uint64_t)who << 32;
		if (is & bit)
			return 0;
	} while (!atomic_compare_exchange_weak_explicit(at, &was, is | bit, memory_order_relaxed,
							memory_order_relaxed));
	return 1;
}

static uint64_t key_of(uint32_t comm)
{
	const struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; comm && i < ring->header->n_comms; i++) {
		struct ct_ring_comm *c = &ring->comms[i];

		if (atomic_load_explicit(&c->id, memory_order_acquire) == comm)
			return atomic_load_explicit(&c->key, memory_order_relaxed);
	}
	return 0;
}

/* Another thread may be writing a new one over it. */
static uint32_t keep_text(const char *text)
{
	char copy[TEXT_BYTES];
	size_t n = 0;

	for (; text && n < sizeof(copy) - 1 && text[n]; n++)
		copy[n] = text[n];
	while (n && (copy[n - 1] == '\n' || copy[n - 1] == ' '))
		n--;
	copy[n] = '\0';
	return ct_ring_string(&ct_recorder.ring, copy);
}

void ct_error_record(const struct ct_error *error, const char *text)
{
	int saved = errno;
	struct ct_error_rec rec = {
		.reported_ns = ct_now_ns(),
		.key = key_of(error->comm),
		.comm = error->comm,
		.tid = ct_self.lane.tid ? ct_self.lane.tid : (uint32_t)syscall(SYS_gettid),
		.call = error->call,
		.text = keep_text(text),
		.result = error->result,
		.flags = error->is_async ? CT_ERROR_ASYNC : 0,
		.backend = (uint8_t)error->backend,
	};

	ct_recorder_rare(CT_KIND_ERROR, &rec);
	errno = saved;
}

/* ---- exceptions
 * ----------------------------------------------------------------------------------------- */

/* fact: of the C++ ABI for 64 bits: "GNUCC++\0", thrown here, not handed on by exception_ptr; struct
 * _Unwind_Exception, which the thrown object follows; how far before it its type is, in struct
 * __cxa_exception. */
#define CLASS_GNU_CXX 0x474e5543432b2b00ull
#define HEADER_BYTES 32u
#define TYPE_BEFORE 80u

_Static_assert(sizeof(void *) == 8, "as laid out for 64 bits");

/* They have no member before std::runtime_error's, which is a virtual table and a pointer to the
 * words. */
static const char *const plain_types[] = {
	"N4gloo9ExceptionE",	     "N4gloo11IoExceptionE",
	"N4gloo16TimeoutExceptionE", "N4gloo25InvalidOperationExceptionE",
	"St13runtime_error",
};

static const char *words_of(uint64_t class, const void *exception)
{
	const char *header = exception;
	const void *const *type;
	const char *name;

	if (class != CLASS_GNU_CXX || !exception)
		return NULL;
	type = *(const void *const *const *)(const void *)(header - TYPE_BEFORE);
	if (!type)
		return NULL;
	name = (const char *)type[1];
	for (size_t i = 0; name && i < sizeof(plain_types) / sizeof(plain_types[0]); i++)
		if (strcmp(name + (name[0] == '*'), plain_types[i]) == 0)
			return ((const char *const *)(const void *)(header + HEADER_BYTES))[1];
	return name;
}

int ct_error_of_slot(struct ct_slot *slot, uint32_t *comm, uint32_t *call)
{
	if (!slot)
		return 0;
	*comm = (uint32_t)(atomic_load_explicit(&slot->w[CT_OP_W_WHAT], memory_order_relaxed) >>
			   32);
	*call = CT_TAG_CALL(atomic_load_explicit(&slot->w[0], memory_order_relaxed));
	return 1;
}

static uint8_t backend_of(uint32_t comm)
{
	const struct ct_ring *ring = &ct_recorder.ring;

	for (uint32_t i = 0; comm && i < ring->header->n_comms; i++) {
		struct ct_ring_comm *c = &ring->comms[i];

		if (atomic_load_explicit(&c->id, memory_order_acquire) == comm)
			return (uint8_t)atomic_load_explicit(&c->bits, memory_order_relaxed);
	}
	return CT_BACKEND_GLOO; /* a rendezvous */
}

void ct_error_thrown(const struct ct_frame *frame, uint64_t class, const void *exception)
{
	struct ct_error error = { .result = CT_RESULT_EXCEPTION };

	if (class != CLASS_GNU_CXX)
		return; /* a thread that is cancelled, or another language's */
	if (frame->leave == ct_op_leave || frame->leave == transfer_leave)
		ct_error_of_slot(((const struct ct_op_frame *)frame)->slot, &error.comm,
				 &error.call);
	else if (frame->leave == ct_host_leave) {
		error.comm = ((const struct ct_host_frame *)frame)->rec.comm;
		error.call = ((const struct ct_host_frame *)frame)->rec.call;
	} else {
		return;
	}
	error.backend = backend_of(error.comm);
	if (error.call && ct_error_is_new(&error))
		ct_error_record(&error, words_of(class, exception));
}
