/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/sim/thread_stream.h"

#include <pthread.h>
#include <stdlib.h>

#include "tools/sim/enter.h"
#include "tools/sim/stream.h"

struct owned {
	struct sim_stream *stream;
	struct owned *next;
};

static pthread_key_t key;
static bool has_key; /* under the lock */

static void retire_all(void *list)
{
	struct owned *next;

	sim_lock();
	for (struct owned *o = list; o; o = next) {
		next = o->next;
		sim_stream_retire(o->stream);
		free(o);
	}
	sim_unlock();
}

struct sim_stream *sim_thread_stream(struct sim_context *context)
{
	struct owned *list, *o;

	if (!has_key && pthread_key_create(&key, retire_all))
		return NULL;
	has_key = true;
	list = pthread_getspecific(key);
	for (o = list; o; o = o->next)
		if (o->stream->context == context)
			return o->stream;
	o = sim_alloc(sizeof(*o));
	o->next = list;
	if (pthread_setspecific(key, o)) {
		free(o);
		return NULL;
	}
	o->stream = sim_stream_new(context, CU_STREAM_DEFAULT, 0);
	return o->stream;
}
