// SPDX-License-Identifier: Apache-2.0
// The offsets in interpose/gloo/gloo_calls.def and gloo_abi.h against the installed headers: if this compiles, they hold.
// gatherv is not in Debian's headers; its offsets were read from the disassembly of gloo::gatherv.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <iostream>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define protected public
#define private public
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/context.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>
#include <gloo/transport/context.h>
#undef protected
#undef private

#include "interpose/gloo/abi.h"

#pragma GCC diagnostic ignored "-Winvalid-offsetof"

namespace
{

// What a row says: offsets of count, element size, root and tag.
struct row {
	int count, esize, root, tag;
};

#define GLOO_CALL(symbol, name, op, rule, count_at, esize_at, root_at, tag_at)                     \
	constexpr row name = { count_at, esize_at, root_at, tag_at };
#include "interpose/gloo/gloo_calls.def"

#define AT(what, type, field)                                                                      \
	static_assert((what) == static_cast<int>(offsetof(type, field)), #type "::" #field)
#define NONE(what) static_assert((what) == -1, "this operation has none")

using gloo::detail::AllreduceOptionsImpl;
AT(allreduce.count, AllreduceOptionsImpl, elements);
AT(allreduce.esize, AllreduceOptionsImpl, elementSize);
AT(allreduce.tag, AllreduceOptionsImpl, tag);
NONE(allreduce.root);
AT(0, gloo::AllreduceOptions, impl_);
AT(GLOO_OPTIONS_CONTEXT, AllreduceOptionsImpl, context);

AT(broadcast.count, gloo::BroadcastOptions, elements);
AT(broadcast.esize, gloo::BroadcastOptions, elementSize);
AT(broadcast.root, gloo::BroadcastOptions, root);
AT(broadcast.tag, gloo::BroadcastOptions, tag);
AT(GLOO_OPTIONS_CONTEXT, gloo::BroadcastOptions, context);

AT(reduce.count, gloo::ReduceOptions, elements);
AT(reduce.esize, gloo::ReduceOptions, elementSize);
AT(reduce.root, gloo::ReduceOptions, root);
AT(reduce.tag, gloo::ReduceOptions, tag);
AT(GLOO_OPTIONS_CONTEXT, gloo::ReduceOptions, context);

AT(allgather.count, gloo::AllgatherOptions, in);
AT(GLOO_OPTIONS_OUT, gloo::AllgatherOptions, out);
AT(allgather.esize, gloo::AllgatherOptions, elementSize);
AT(allgather.tag, gloo::AllgatherOptions, tag);
NONE(allgather.root);
AT(GLOO_OPTIONS_CONTEXT, gloo::AllgatherOptions, context);

AT(allgatherv.count, gloo::AllgathervOptions, elements);
AT(allgatherv.esize, gloo::AllgathervOptions, elementSize);
AT(allgatherv.tag, gloo::AllgathervOptions, tag);
AT(GLOO_OPTIONS_IN, gloo::AllgathervOptions, in);
NONE(allgatherv.root);
AT(GLOO_OPTIONS_CONTEXT, gloo::AllgathervOptions, context);

AT(gather.count, gloo::GatherOptions, in);
AT(gather.esize, gloo::GatherOptions, elementSize);
AT(gather.root, gloo::GatherOptions, root);
AT(gather.tag, gloo::GatherOptions, tag);
AT(GLOO_OPTIONS_CONTEXT, gloo::GatherOptions, context);

AT(scatter.count, gloo::ScatterOptions, out);
AT(scatter.esize, gloo::ScatterOptions, elementSize);
AT(scatter.root, gloo::ScatterOptions, root);
AT(scatter.tag, gloo::ScatterOptions, tag);
AT(GLOO_OPTIONS_CONTEXT, gloo::ScatterOptions, context);

AT(alltoall.count, gloo::AlltoallOptions, in);
AT(alltoall.esize, gloo::AlltoallOptions, elementSize);
AT(alltoall.tag, gloo::AlltoallOptions, tag);
NONE(alltoall.root);
AT(GLOO_OPTIONS_CONTEXT, gloo::AlltoallOptions, context);

AT(alltoallv.count, gloo::AlltoallvOptions, inLengthPerRank);
AT(alltoallv.esize, gloo::AlltoallvOptions, elementSize);
AT(alltoallv.tag, gloo::AlltoallvOptions, tag);
NONE(alltoallv.root);
AT(GLOO_OPTIONS_CONTEXT, gloo::AlltoallvOptions, context);

NONE(barrier.count);
NONE(barrier.esize);
NONE(barrier.root);
AT(barrier.tag, gloo::BarrierOptions, tag);
AT(GLOO_OPTIONS_CONTEXT, gloo::BarrierOptions, context);

AT(GLOO_BUFFER_SIZE, gloo::transport::UnboundBuffer, size);
// tcp::UnboundBuffer, whose header needs one that is not installed, adds its context first.
static_assert(GLOO_BUFFER_CONTEXT == sizeof(gloo::transport::UnboundBuffer),
	      "tcp::UnboundBuffer::context_");
AT(GLOO_TRANSPORT_RANK, gloo::transport::Context, rank);
AT(GLOO_TRANSPORT_SIZE, gloo::transport::Context, size);

// Which of the two layouts of gloo::Context is installed does not matter, as long as it is one of them.
constexpr int rank_at = static_cast<int>(offsetof(gloo::Context, rank));
static_assert(rank_at == GLOO_CONTEXT_OLD || rank_at == GLOO_CONTEXT_NEW, "gloo::Context::rank");
AT(rank_at + 4, gloo::Context, size);
AT(rank_at + GLOO_CONTEXT_TRANSPORT, gloo::Context, transportContext_);

static_assert(sizeof(ct_cxx_string) == sizeof(std::string), "std::string");
static_assert(sizeof(ct_cxx_vector) == sizeof(std::vector<char>), "std::vector");

// What cannot be told by an offset: which member comes first.
bool strings_and_vectors_are_as_assumed()
{
	const std::string key = "prefix/0";
	const std::vector<char> value = { 'a', 'b', 'c' };
	ct_cxx_string s;
	ct_cxx_vector v;

	memcpy(&s, static_cast<const void *>(&key), sizeof(s));
	memcpy(&v, static_cast<const void *>(&value), sizeof(v));
	return s.data == key.data() && s.len == key.size() && v.begin == value.data() &&
	       v.end - v.begin == 3;
}

} // namespace

int main()
{
	return strings_and_vectors_are_as_assumed() ? 0 : 1;
}
