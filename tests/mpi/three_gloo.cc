// SPDX-License-Identifier: Apache-2.0
// three_gloo.cc — the part of three_job.c that is C++'s.
#include <memory>

#include <gloo/allreduce.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

extern "C" int three_gloo(int rank, int size, const char *directory, int value);

int three_gloo(int rank, int size, const char *directory, int value)
{
	gloo::rendezvous::FileStore store(directory);
	auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
	auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
	int sum = 0;

	context->connectFullMesh(store, device);
	gloo::AllreduceOptions options(context);
	options.setInput(&value, 1);
	options.setOutput(&sum, 1);
	options.setReduceFunction([](void *c, const void *a, const void *b, size_t n) {
		gloo::sum<int>(c, a, b, n);
	});
	gloo::allreduce(options);
	return sum;
}
