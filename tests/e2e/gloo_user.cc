// SPDX-License-Identifier: Apache-2.0
// gloo_user.cc — a library that uses the Gloo that it is linked with: a framework beside another one in one process. It
// says which copy of Gloo has carried out its collectives: the one whose code calls the reduction.
#include <cstdint>
#include <cstring>
#include <deque>
#include <dlfcn.h>
#include <execinfo.h>
#include <string>
#include <vector>

#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

namespace
{

std::string carried_out_by;

// Nobody closes a connection that a peer may still read from: communicators end some rounds later.
std::deque<std::shared_ptr<gloo::Context>> &used = *new std::deque<std::shared_ptr<gloo::Context>>;

void add(void *to, const void *a, const void *b, size_t n)
{
	void *frames[16];
	Dl_info info;

	for (size_t i = 0; i < n; i++)
		((uint32_t *)to)[i] = ((const uint32_t *)a)[i] + ((const uint32_t *)b)[i];
	for (int i = 0, found = backtrace(frames, 16); i < found; i++)
		if (dladdr(frames[i], &info) && (strstr(info.dli_fname, "/libgloo.so") ||
						 strstr(info.dli_fname, "/libgloo_other.so"))) {
			carried_out_by = strrchr(info.dli_fname, '/') + 1;
			return;
		}
}

} // namespace

// The file name of the copy, or what went wrong.
extern "C" __attribute__((visibility("default"))) const char *gloo_user(int rank, int size,
									const char *store,
									uint32_t elements,
									int times)
{
	static std::string said;

	try {
		gloo::rendezvous::FileStore files(store);
		auto device = gloo::transport::tcp::CreateDevice("127.0.0.1");
		auto context = std::make_shared<gloo::rendezvous::Context>(rank, size);
		std::vector<uint32_t> data(elements);

		context->connectFullMesh(files, device);
		for (int k = 0; k < times; k++) {
			gloo::AllreduceOptions o(context);

			for (uint32_t i = 0; i < elements; i++)
				data[i] = i + (uint32_t)rank;
			o.setOutput(data.data(), elements);
			o.setReduceFunction(add);
			o.setTag((uint32_t)k);
			gloo::allreduce(o);
			for (uint32_t i = 0; i < elements; i++)
				if (data[i] !=
				    (uint32_t)size * i + (uint32_t)(size * (size - 1) / 2))
					return "wrong data";
		}
		gloo::BarrierOptions last(context);
		last.setTag((uint32_t)times);
		gloo::barrier(last);
		used.push_back(context);
		if (used.size() > 8)
			used.pop_front();
	} catch (const std::exception &e) {
		said = e.what();
		return said.c_str();
	}
	return carried_out_by.c_str();
}
