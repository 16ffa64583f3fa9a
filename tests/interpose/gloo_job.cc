// SPDX-License-Identifier: Apache-2.0
// gloo_job.cc — one rank of a job that does nothing but call libgloo, from several threads, and that can be
// told how to end. It knows nothing of being traced; its journal (journal.h) is the truth in kill tests.
//
// Every thread has a communicator of its own, so the calls of one lane of the journal are those of one
// communicator, in order. Which operation number k of a thread is, and how long, follows from (thread, k)
// alone: all ranks agree. Every result is compared with what it must be.
//
// Exit: 0, or what --end says; 1 no journal, store or device; 2 usage; 7 gloo threw (a peer is
// gone, or a time-out); 9 a call returned wrong data.
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <time.h>
#include <unistd.h>
#include <vector>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/rendezvous/prefix_store.h>
#include <gloo/scatter.h>
#include <gloo/transport/tcp/device.h>

#include "tests/interpose/journal.h"

namespace
{

enum { EXIT_SETUP = 1, EXIT_USAGE = 2, EXIT_GLOO = 7, EXIT_DATA = 9 };
enum class mode { collectives, p2p, mixed };
enum class ending { by_return, by_exit, by__exit, by_abort, by_segfault, by_throw };

struct options {
	int rank = -1;
	int size = 0;
	std::string store;
	unsigned threads = 1;
	uint64_t ops = 100;
	std::string journal;
	ending end = ending::by_return;
	int end_code = 0;
	uint64_t end_at = UINT64_MAX;
	uint64_t pace_us = 0;
	mode what = mode::mixed;
	size_t elements = 256;
	bool never_returns = false;
	bool fresh_threads = false;
	int timeout_s = 60;
};

// Not a std::exception: it must pass every handler here and reach std::terminate.
struct thrown_on_purpose {
};

// Never destroyed: when the process ends, other threads may still be inside gloo.
options &opt = *new options;
auto &device = *new std::shared_ptr<gloo::transport::Device>;
ct_journal *journal;

struct lane {
	unsigned id;
	std::shared_ptr<gloo::rendezvous::Context> context;
	std::vector<uint32_t> in, out;
	uint64_t checksum = 0xcbf29ce484222325;
};

const char usage[] =
	"usage: gloo_job --rank R --size N --store DIR [options]\n"
	"  --threads T        threads, each with a communicator of its own (1; at most 16)\n"
	"  --ops K            operations per thread (100); a send/recv operation is four gloo "
	"calls\n"
	"  --mode M           collectives, p2p or mixed (mixed; with --size 1 only collectives)\n"
	"  --elements E       an operation has 1 to E elements of 4 bytes, per peer (256)\n"
	"  --pace-us U        begin an operation every U microseconds, per thread (0: at once)\n"
	"  --fresh-threads    every operation in a new thread, one after the other\n"
	"  --never-returns    thread 1 waits for a message that nobody sends (--size 2, --threads "
	"2)\n"
	"  --journal FILE     write the journal of tests/interpose/journal.h\n"
	"  --end HOW[:CODE]   return, exit, _exit, abort, segfault or throw (return)\n"
	"  --end-at N         thread 0 ends the process so before its operation N (after the "
	"last)\n"
	"  --timeout-s S      after which gloo gives up a call (60)\n";

// ---------------------------------------------------------------------------------------------- helpers

// exit() may be called once only, and other threads are still inside gloo.
[[noreturn]] void leave_job(int code)
{
	static std::mutex once;
	once.lock();
	exit(code);
}

uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
	x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
	return x ^ (x >> 31);
}

// What rank `rank` puts at index i of its input.
uint32_t value(const lane &l, uint64_t k, int rank, size_t i)
{
	return (uint32_t)mix(((uint64_t)l.id << 48) ^ (k << 12) ^ (uint64_t)rank) + (uint32_t)i;
}

void fill(lane &l, uint64_t k, size_t n)
{
	for (size_t i = 0; i < n; i++)
		l.in[i] = value(l, k, opt.rank, i);
	std::fill(l.out.begin(), l.out.end(), 0);
}

void check(lane &l, uint64_t k, const char *what, size_t i, uint32_t expected)
{
	if (l.out[i] != expected) {
		fprintf(stderr,
			"gloo_job: rank %d thread %u op %" PRIu64
			": wrong data: %s[%zu] is %u, not %u\n",
			opt.rank, l.id, k, what, i, l.out[i], expected);
		leave_job(EXIT_DATA);
	}
	l.checksum = (l.checksum ^ l.out[i]) * 0x100000001b3;
}

// Index i of the output holds what `from` had at index i + shift of its input.
void check_from(lane &l, uint64_t k, const char *what, size_t at, size_t n, int from, size_t shift)
{
	for (size_t i = 0; i < n; i++)
		check(l, k, what, at + i, value(l, k, from, shift + i));
}

void check_sum(lane &l, uint64_t k, const char *what, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t sum = 0;
		for (int r = 0; r < opt.size; r++)
			sum += value(l, k, r, i);
		check(l, k, what, i, sum);
	}
}

// One call into gloo, between its two notes. An exception leaves the call noted as entered only.
template <typename function> void call(lane &l, ct_journal_op op, size_t bytes, function body)
{
	int noted = ct_journal_enter(journal, l.id, op, bytes);
	if (noted < 0)
		fprintf(stderr, "gloo_job: rank %d thread %u: the journal is full and stops\n",
			opt.rank, l.id);
	body();
	if (noted > 0)
		ct_journal_leave(journal, l.id);
}

using adder = void (*)(void *, const void *, const void *, size_t);
const adder add = &gloo::sum<uint32_t>;

// ------------------------------------------------------------------------------------------- operations
// n: elements per peer; root: a rank. All follow from (thread, k).

void op_allreduce(lane &l, uint64_t k, size_t n, int)
{
	fill(l, k, n);
	gloo::AllreduceOptions o(l.context);
	o.setInput(l.in.data(), n);
	o.setOutput(l.out.data(), n);
	o.setReduceFunction(add);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_ALLREDUCE, n * 4, [&] { gloo::allreduce(o); });
	check_sum(l, k, "allreduce", n);
}

void op_broadcast(lane &l, uint64_t k, size_t n, int root)
{
	fill(l, k, n);
	gloo::BroadcastOptions o(l.context);
	if (opt.rank == root)
		o.setInput(l.in.data(), n);
	o.setOutput(l.out.data(), n);
	o.setRoot(root);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_BROADCAST, n * 4, [&] { gloo::broadcast(o); });
	check_from(l, k, "broadcast", 0, n, root, 0);
}

void op_reduce(lane &l, uint64_t k, size_t n, int root)
{
	fill(l, k, n);
	gloo::ReduceOptions o(l.context);
	o.setInput(l.in.data(), n);
	o.setOutput(l.out.data(), n);
	o.setReduceFunction(add);
	o.setRoot(root);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_REDUCE, n * 4, [&] { gloo::reduce(o); });
	// Elsewhere gloo uses the output as scratch.
	if (opt.rank == root)
		check_sum(l, k, "reduce", n);
}

void op_allgather(lane &l, uint64_t k, size_t n, int)
{
	fill(l, k, n);
	gloo::AllgatherOptions o(l.context);
	o.setInput(l.in.data(), n);
	o.setOutput(l.out.data(), n * (size_t)opt.size);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_ALLGATHER, n * 4, [&] { gloo::allgather(o); });
	for (int r = 0; r < opt.size; r++)
		check_from(l, k, "allgather", n * (size_t)r, n, r, 0);
}

void op_gather(lane &l, uint64_t k, size_t n, int root)
{
	fill(l, k, n);
	gloo::GatherOptions o(l.context);
	o.setInput(l.in.data(), n);
	if (opt.rank == root)
		o.setOutput(l.out.data(), n * (size_t)opt.size);
	o.setRoot(root);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_GATHER, n * 4, [&] { gloo::gather(o); });
	for (int r = 0; opt.rank == root && r < opt.size; r++)
		check_from(l, k, "gather", n * (size_t)r, n, r, 0);
}

void op_scatter(lane &l, uint64_t k, size_t n, int root)
{
	fill(l, k, n * (size_t)opt.size);
	gloo::ScatterOptions o(l.context);
	if (opt.rank == root) {
		std::vector<uint32_t *> parts;
		for (int r = 0; r < opt.size; r++)
			parts.push_back(l.in.data() + n * (size_t)r);
		o.setInputs(parts, n);
	}
	o.setOutput(l.out.data(), n);
	o.setRoot(root);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_SCATTER, n * 4, [&] { gloo::scatter(o); });
	check_from(l, k, "scatter", 0, n, root, n * (size_t)opt.rank);
}

void op_alltoall(lane &l, uint64_t k, size_t n, int)
{
	size_t all = n * (size_t)opt.size;
	fill(l, k, all);
	gloo::AlltoallOptions o(l.context);
	o.setInput(l.in.data(), all);
	o.setOutput(l.out.data(), all);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_ALLTOALL, all * 4, [&] { gloo::alltoall(o); });
	for (int r = 0; r < opt.size; r++)
		check_from(l, k, "alltoall", n * (size_t)r, n, r, n * (size_t)opt.rank);
}

// How many elements `from` sends to `to`: uneven, sometimes none.
size_t share(uint64_t k, size_t n, int from, int to)
{
	return (k + 7 * (uint64_t)from + 3 * (uint64_t)to) % (n + 1);
}

void op_alltoallv(lane &l, uint64_t k, size_t n, int)
{
	std::vector<int64_t> sends, recvs;
	size_t total = 0;
	for (int r = 0; r < opt.size; r++) {
		sends.push_back((int64_t)share(k, n, opt.rank, r));
		recvs.push_back((int64_t)share(k, n, r, opt.rank));
		total += share(k, n, opt.rank, r);
	}
	fill(l, k, total);
	gloo::AlltoallvOptions o(l.context);
	o.setInput(l.in.data(), sends);
	o.setOutput(l.out.data(), recvs);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_ALLTOALLV, total * 4, [&] { gloo::alltoallv(o); });

	size_t at = 0;
	for (int r = 0; r < opt.size; r++) {
		size_t shift = 0;
		for (int to = 0; to < opt.rank; to++)
			shift += share(k, n, r, to);
		check_from(l, k, "alltoallv", at, share(k, n, r, opt.rank), r, shift);
		at += share(k, n, r, opt.rank);
	}
}

void op_barrier(lane &l, uint64_t k, size_t, int)
{
	gloo::BarrierOptions o(l.context);
	o.setTag((uint32_t)k);
	call(l, CT_JOURNAL_BARRIER, 0, [&] { gloo::barrier(o); });
}

// Round the ring: to the next rank, from the one before; every other time from anyone.
void op_sendrecv(lane &l, uint64_t k, size_t n, int)
{
	int next = (opt.rank + 1) % opt.size;
	int before = (opt.rank + opt.size - 1) % opt.size;
	fill(l, k, n);
	auto to = l.context->createUnboundBuffer(l.in.data(), n * 4);
	auto from = l.context->createUnboundBuffer(l.out.data(), n * 4);
	std::vector<int> anyone;
	for (int r = 0; r < opt.size; r++)
		if (r != opt.rank)
			anyone.push_back(r);

	int source = -1;
	bool sent = false, received = false;
	call(l, CT_JOURNAL_RECV, n * 4,
	     [&] { k % 2 ? from->recv(anyone, k) : from->recv(before, k); });
	call(l, CT_JOURNAL_SEND, n * 4, [&] { to->send(next, k); });
	call(l, CT_JOURNAL_WAIT_RECV, n * 4, [&] { received = from->waitRecv(&source); });
	call(l, CT_JOURNAL_WAIT_SEND, n * 4, [&] { sent = to->waitSend(); });
	if (!received || !sent || source != before) {
		fprintf(stderr,
			"gloo_job: rank %d thread %u op %" PRIu64 ": recv %d from %d, send %d\n",
			opt.rank, l.id, k, received, source, sent);
		leave_job(EXIT_DATA);
	}
	check_from(l, k, "recv", 0, n, before, 0);
}

using operation = void (*)(lane &, uint64_t, size_t, int);
const operation operations[] = {
	op_allreduce, op_broadcast, op_reduce,	  op_allgather, op_gather,
	op_scatter,   op_alltoall,  op_alltoallv, op_barrier,	op_sendrecv
};
const size_t n_collectives = 9;

void run_op(lane &l, uint64_t k)
{
	uint64_t dice = mix(((uint64_t)l.id << 40) ^ k);
	size_t n_kinds = opt.what == mode::collectives ? n_collectives : n_collectives + 1;
	operation op = opt.what == mode::p2p ? op_sendrecv : operations[dice % n_kinds];
	op(l, k, 1 + (size_t)(dice >> 8) % opt.elements, (int)((dice >> 40) % (uint64_t)opt.size));
}

// ----------------------------------------------------------------------------------------- a thread's life

void connect(lane &l)
{
	// A FileStore of its own per thread: the class has no lock.
	gloo::rendezvous::FileStore files(opt.store);
	gloo::rendezvous::PrefixStore store("thread" + std::to_string(l.id), files);
	l.context = std::make_shared<gloo::rendezvous::Context>(opt.rank, opt.size);
	l.context->setTimeout(std::chrono::seconds(opt.timeout_s));
	auto dev = device;
	l.context->connectFullMesh(store, dev);
	l.in.resize(opt.elements * (size_t)opt.size);
	l.out.resize(opt.elements * (size_t)opt.size);
}

void pace(const timespec &begin, uint64_t k)
{
	if (opt.pace_us == 0)
		return;
	uint64_t ns = (uint64_t)begin.tv_nsec + k * opt.pace_us * 1000;
	timespec due = { begin.tv_sec + (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
}

// End the process as told; comes back only for `return`, which is main's to do.
void end_process()
{
	fflush(stdout);
	switch (opt.end) {
	case ending::by_return:
		break;
	case ending::by_exit:
		leave_job(opt.end_code);
	case ending::by__exit:
		_exit(opt.end_code);
	case ending::by_abort:
		abort();
	case ending::by_segfault:
		*(volatile int *)nullptr = 0;
		break;
	case ending::by_throw:
		throw thrown_on_purpose();
	}
}

// false: thread 0 has come to --end-at and main shall return.
bool run_ops(lane &l)
{
	timespec begin;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint64_t k = 0; k < opt.ops; k++) {
		if (l.id == 0 && k == opt.end_at) {
			end_process();
			return false;
		}
		pace(begin, k);
		if (!opt.fresh_threads) {
			run_op(l, k);
			continue;
		}
		std::exception_ptr error;
		std::thread([&] {
			ct_journal_take(journal, l.id);
			try {
				run_op(l, k);
			} catch (const std::exception &) {
				error = std::current_exception();
			}
		}).join();
		if (error)
			std::rethrow_exception(error);
	}
	return true;
}

// The call that nobody answers. When the peers are gone at last gloo throws: this thread still says nothing.
void wait_for_ever(lane &l)
{
	auto buffer = l.context->createUnboundBuffer(l.out.data(), 4);
	try {
		call(l, CT_JOURNAL_RECV, 4, [&] { buffer->recv((opt.rank + 1) % opt.size, 0); });
		call(l, CT_JOURNAL_WAIT_RECV, 4, [&] { buffer->waitRecv(std::chrono::hours(24)); });
	} catch (const std::exception &) {
	}
	for (;;)
		pause();
}

bool run_lane(lane &l)
{
	ct_journal_take(journal, l.id);
	try {
		connect(l);
		if (opt.never_returns && l.id == 1)
			wait_for_ever(l);
		return run_ops(l);
	} catch (const std::exception &e) {
		fprintf(stderr, "gloo_job: rank %d thread %u: gloo: %s\n", opt.rank, l.id,
			e.what());
		leave_job(EXIT_GLOO);
	}
}

// Nobody closes a connection that a peer may still read from. A peer that died is not waited for long.
void wait_for_peers()
{
	gloo::rendezvous::FileStore files(opt.store);
	gloo::rendezvous::PrefixStore store("done", files);
	std::vector<std::string> all;
	for (int r = 0; r < opt.size; r++)
		all.push_back(std::to_string(r));
	try {
		store.set(std::to_string(opt.rank), std::vector<char>(1, 'x'));
		store.wait(all, std::chrono::seconds(5));
	} catch (const std::exception &) {
	}
}

// ----------------------------------------------------------------------------------------------- command

[[noreturn]] void bad_usage(const std::string &why)
{
	fprintf(stderr, "gloo_job: %s\n%s", why.c_str(), usage);
	exit(EXIT_USAGE);
}

uint64_t number(const char *name, const char *text, uint64_t low, uint64_t high)
{
	char *rest;
	errno = 0;
	uint64_t n = strtoull(text, &rest, 10);
	if (errno || rest == text || *rest || *text == '-' || n < low || n > high)
		bad_usage(std::string("--") + name + " " + text + ": not a number in its range");
	return n;
}

void parse_end(const std::string &text)
{
	static const struct {
		const char *name;
		ending how;
	} names[] = {
		{ "return", ending::by_return }, { "exit", ending::by_exit },
		{ "_exit", ending::by__exit },	 { "abort", ending::by_abort },
		{ "throw", ending::by_throw },	 { "segfault", ending::by_segfault },
	};
	size_t colon = text.find(':');
	if (colon != std::string::npos)
		opt.end_code = (int)number("end", text.c_str() + colon + 1, 0, 255);
	for (const auto &known : names) {
		if (text.substr(0, colon) == known.name) {
			opt.end = known.how;
			return;
		}
	}
	bad_usage("--end " + text + ": unknown");
}

void parse_mode(const std::string &text)
{
	if (text == "collectives")
		opt.what = mode::collectives;
	else if (text == "p2p")
		opt.what = mode::p2p;
	else if (text == "mixed")
		opt.what = mode::mixed;
	else
		bad_usage("--mode " + text + ": unknown");
}

void parse(int argc, char **argv)
{
	enum {
		RANK = 256,
		SIZE,
		STORE,
		THREADS,
		OPS,
		JOURNAL,
		END,
		END_AT,
		PACE,
		MODE,
		ELEMENTS,
		NEVER,
		FRESH,
		TIMEOUT,
		HELP
	};
	static const option known[] = {
		{ "rank", 1, nullptr, RANK },
		{ "size", 1, nullptr, SIZE },
		{ "store", 1, nullptr, STORE },
		{ "threads", 1, nullptr, THREADS },
		{ "ops", 1, nullptr, OPS },
		{ "journal", 1, nullptr, JOURNAL },
		{ "end", 1, nullptr, END },
		{ "end-at", 1, nullptr, END_AT },
		{ "pace-us", 1, nullptr, PACE },
		{ "mode", 1, nullptr, MODE },
		{ "elements", 1, nullptr, ELEMENTS },
		{ "never-returns", 0, nullptr, NEVER },
		{ "fresh-threads", 0, nullptr, FRESH },
		{ "timeout-s", 1, nullptr, TIMEOUT },
		{ "help", 0, nullptr, HELP },
		{ nullptr, 0, nullptr, 0 },
	};
	int c, index = 0;
	while ((c = getopt_long(argc, argv, "", known, &index)) != -1) {
		const char *name = known[index].name;
		switch (c) {
		case RANK:
			opt.rank = (int)number(name, optarg, 0, 1023);
			break;
		case SIZE:
			opt.size = (int)number(name, optarg, 1, 1024);
			break;
		case STORE:
			opt.store = optarg;
			break;
		case THREADS:
			opt.threads = (unsigned)number(name, optarg, 1, CT_JOURNAL_LANES);
			break;
		case OPS:
			// Gloo's tags are 32 bits wide, and value() has space for this many.
			opt.ops = number(name, optarg, 0, UINT32_MAX);
			break;
		case JOURNAL:
			opt.journal = optarg;
			break;
		case END:
			parse_end(optarg);
			break;
		case END_AT:
			opt.end_at = number(name, optarg, 0, UINT32_MAX);
			break;
		case PACE:
			opt.pace_us = number(name, optarg, 0, 60000000);
			break;
		case MODE:
			parse_mode(optarg);
			break;
		case ELEMENTS:
			opt.elements = number(name, optarg, 1, 1 << 24);
			break;
		case NEVER:
			opt.never_returns = true;
			break;
		case FRESH:
			opt.fresh_threads = true;
			break;
		case TIMEOUT:
			opt.timeout_s = (int)number(name, optarg, 1, 86400);
			break;
		case HELP:
			fputs(usage, stdout);
			exit(0);
		default:
			bad_usage("see above");
		}
	}
	if (optind < argc)
		bad_usage(std::string(argv[optind]) + ": unexpected");
	if (opt.store.empty() || opt.size == 0 || opt.rank < 0 || opt.rank >= opt.size)
		bad_usage("--store, --size and --rank below it are needed");
	// gloo has no connection of a rank with itself.
	if (opt.size == 1 && opt.what == mode::p2p)
		bad_usage("--mode p2p needs a peer: --size 2 or more");
	if (opt.size == 1 && opt.what == mode::mixed)
		opt.what = mode::collectives;
	if (opt.never_returns && (opt.size < 2 || opt.threads < 2))
		bad_usage("--never-returns needs --size 2 and --threads 2 or more");
}

} // namespace

int main(int argc, char **argv)
{
	parse(argc, argv);
	// As Python does: gloo writes to sockets whose other end may be dead, with writev(2).
	signal(SIGPIPE, SIG_IGN);
	if (!opt.journal.empty()) {
		journal = ct_journal_create(opt.journal.c_str(), opt.rank, opt.size);
		if (!journal) {
			fprintf(stderr, "gloo_job: journal: %s: %s\n", opt.journal.c_str(),
				strerror(errno));
			return EXIT_SETUP;
		}
	}
	if (access(opt.store.c_str(), W_OK | X_OK) != 0) {
		fprintf(stderr, "gloo_job: store: %s: %s\n", opt.store.c_str(), strerror(errno));
		return EXIT_SETUP;
	}
	try {
		device = gloo::transport::tcp::CreateDevice("127.0.0.1");
	} catch (const std::exception &e) {
		fprintf(stderr, "gloo_job: no device on 127.0.0.1: %s\n", e.what());
		return EXIT_SETUP;
	}

	auto &lanes = *new std::vector<lane>(opt.threads);
	auto &threads = *new std::vector<std::thread>;
	for (unsigned i = 0; i < opt.threads; i++)
		lanes[i].id = i;
	for (unsigned i = 1; i < opt.threads; i++)
		threads.emplace_back([&lanes, i] { run_lane(lanes[i]); });

	if (!run_lane(lanes[0]))
		return opt.end_code;
	for (unsigned i = 1; i < opt.threads; i++)
		if (!(opt.never_returns && i == 1))
			threads[i - 1].join();

	wait_for_peers();
	uint64_t checksum = 0;
	for (const lane &l : lanes)
		checksum = mix(checksum ^ l.checksum);
	printf("result checksum=%016" PRIx64 "\n", checksum);
	if (!opt.never_returns)
		lanes.clear();
	end_process();
	return opt.end_code;
}
