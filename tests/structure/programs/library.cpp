// SPDX-License-Identifier: Apache-2.0
// Templates, lambdas, range-for, and the search of a set that calls an inlined functor.
#include <algorithm>
#include <set>
#include <vector>
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

volatile int sink;

//: expect ranges @ranges
//:   loop @range-@range_end
NOINLINE void ranges(const std::vector<int> &v) // @ranges
{
	for (int x : v) { // @range
		sink = x;
		sink ^= 5; // @range_end
	}
}

// The algorithm's own loop is in the algorithm, the lambda's call in that loop.
//: expect lambdas @lambdas if O2|O3
//:   inline for_each at @each
//:     loop *
//:       inline operator() *
//:   line @lambda in for_each
NOINLINE void lambdas(const int *from, const int *to) // @lambdas
{
	std::for_each(from, to, [](int x) { // @each
		sink += x * 3; // @lambda
	});
}

// The paper's MOAB case: the loop of the tree search, in the inlined find, calls the comparison.
struct order {
	bool operator()(int a, int b) const { return (a ^ sink) < b; } // @functor
};
//: expect search @search if O2|O3
//:   inline _M_lower_bound *
//:     loop *
//:       inline operator() *
//:   line @functor in find
NOINLINE bool search(const std::set<int, order> &s, int n) // @search
{
	return s.find(n) != s.end(); // @find
}

template <typename T> NOINLINE T total(const T *a, int n) // @total
{
	T t = 0;
	for (int i = 0; i < n; i++) { // @total_for
		sink = i;
		t += a[i]; // @total_end
	}
	return t;
}
//: expect total @total
//:   loop @total_for-@total_end

int main(int argc, char **)
{
	std::vector<int> v(argc);
	std::set<int, order> s;
	double d[3] = { 1, 2, 3 };
	s.insert(argc);
	ranges(v);
	lambdas(v.data(), v.data() + v.size());
	return search(s, argc) + (int)total(d, argc);
}
