// SPDX-License-Identifier: Apache-2.0
// throwing.cc — a program that throws exceptions from many threads, through frames of libc that call back, and at its
// end one that nobody catches if it is told so.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static int compare(const void *a, const void *b)
{
	if (*static_cast<const int *>(a) == 7)
		throw std::runtime_error("seven");
	return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

static int catches(int rounds)
{
	int caught = 0;
	for (int i = 0; i < rounds; i++) {
		int numbers[] = { 7, 3, 9, 1, 7 };
		try {
			qsort(numbers, 5, sizeof(int), compare);
		} catch (const std::exception &) {
			caught++;
		}
		try {
			std::stoi("no number");
		} catch (const std::invalid_argument &) {
			caught++;
		}
	}
	return caught;
}

int main(int argc, char **)
{
	int caught[4];
	std::vector<std::thread> threads;
	for (int &c : caught)
		threads.emplace_back([&c] { c = catches(1000); });
	for (auto &thread : threads)
		thread.join();
	for (int c : caught)
		printf("caught %d\n", c);
	fflush(stdout);
	if (argc > 1)
		throw std::runtime_error("uncaught");
	return 3;
}
