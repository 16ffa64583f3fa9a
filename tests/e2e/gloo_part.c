/* SPDX-License-Identifier: Apache-2.0 */
/* gloo_part.c — a library with a copy of Gloo linked in whole, as pip's libtorch_cpu.so has one:
 * its functions by their names, a class with a table of virtual functions and its type's name, what
 * it needs of libc. Nothing is moved. Linked so that the loader binds its calls (visible), with
 * -Bsymbolic-functions (symbolic), or with its symbols hidden (hidden). COPY_ID shows the copies
 * apart: communicators of COPY_ID + 2 ranks, messages of COPY_ID bytes. */
#include <ifaddrs.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "tests/interpose/fake_gloo.h"

#define PUBLIC __attribute__((visibility("default")))
#define ALLREDUCE "_ZN4gloo9allreduceERKNS_16AllreduceOptionsE"
#define SEND "_ZN4gloo9transport3tcp13UnboundBuffer4sendEimmm"

PUBLIC void part_allreduce(void *options) __asm__(ALLREDUCE);
PUBLIC void part_send(void *buffer, int peer, uint64_t slot, uint64_t offset,
		      uint64_t bytes) __asm__(SEND);
PUBLIC int part_train(int times);
PUBLIC int part_sends(void);
PUBLIC int part_needs(void);

typedef void (*send_fn)(void *buffer, int peer, uint64_t slot, uint64_t offset, uint64_t bytes);

struct class
{
	const char *type;
	send_fn send;
};
PUBLIC extern const struct class part_class __asm__("_ZTVN4gloo9transport3tcp13UnboundBufferE");
const struct class part_class = { "N4gloo9transport3tcp13UnboundBufferE", part_send };
static int calls, sends;

static struct fake_transport transport = { 0, 0, COPY_ID + 2 };
static struct fake_context context = { .size = COPY_ID + 2, .transport = &transport };
/* (volatile: what the compiler cannot see through, as an object that is made elsewhere) */
static struct fake_buffer the_buffer = { .table = &part_class,
					 .bytes = COPY_ID,
					 .transport = &transport };
static struct fake_buffer *volatile buffer = &the_buffer;

/* gloo::AllreduceOptions */
static struct {
	struct fake_context *context;
	uint64_t rest[9], elements, element_bytes, more[4];
	uint32_t tag;
} options = { .context = &context, .elements = 10, .element_bytes = 4 };

void part_send(void *to, int peer, uint64_t slot, uint64_t offset, uint64_t bytes)
{
	(void)to, (void)peer, (void)slot, (void)offset, (void)bytes;
	sends++;
}

void part_allreduce(void *o)
{
	(void)o;
	calls++;
	/* (a call that the compiler makes a jump: then who calls is not this library) */
	((const struct class *)buffer->table)->send(buffer, 1, 0, 0, COPY_ID);
}

int part_train(int times)
{
	for (int i = 0; i < times; i++, options.tag++)
		part_allreduce(&options);
	return calls;
}

int part_sends(void)
{
	return sends;
}

int part_needs(void)
{
	struct ifaddrs *addresses;

	return getifaddrs(&addresses) + epoll_wait(-1, 0, 0, 0) + part_class.type[0];
}
