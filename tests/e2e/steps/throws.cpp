// SPDX-License-Identifier: Apache-2.0
// throws: exceptions that unwind through frames with and without cleanups.
// usage: throws [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static volatile unsigned long work_done;

struct guard {
	std::string name = std::string(40, 'x');
	~guard() { work_done += name.size(); }
};

__attribute__((noinline)) static int dive(int depth)
{
	guard cleanup;

	if (depth == 0)
		throw std::runtime_error("deep");
	return dive(depth - 1) + (int)cleanup.name.size();
}

__attribute__((noinline)) static int plain(int depth)
{
	return depth == 0 ? dive(3) : plain(depth - 1) + 1;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? std::atoi(argv[1]) : 4;
	std::vector<int> caught;

	for (int i = 0; i < rounds; i++) {
		try {
			caught.push_back(plain(i % 9));
		} catch (const std::exception &e) {
			caught.push_back((int)std::string(e.what()).size());
		}
	}
	std::printf("%zu %lu\n", caught.size(), (unsigned long)work_done);
}
