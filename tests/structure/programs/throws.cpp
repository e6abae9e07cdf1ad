// SPDX-License-Identifier: Apache-2.0
// Landing pads belong to the loop whose calls throw: catch bodies, cleanups, throws.
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

volatile int sink;
NOINLINE int risky(int n)
{
	if (n == sink)
		throw n; // @throw0
	return n;
}
struct guard {
	int n;
	NOINLINE guard(int n) : n(n) {}
	NOINLINE ~guard() { sink = n; }
};

//: expect catches @catches
//:   loop @try-@caught
//:   line @catch1 in @try
//:   line @catch2 in @try
NOINLINE int catches(int n) // @catches
{
	int bad = 0;

	for (int i = 0; i < n; i++) { // @try
		try {
			sink += risky(i);
		} catch (int) {
			sink = 11; // @catch1
			bad += sink; // @catch2
		} // @caught
	}
	return bad;
}

//: expect cleans @cleans
//:   loop @clean-@clean_end
//:   line @guard in @clean
NOINLINE void cleans(int n) // @cleans
{
	for (int i = 0; i < n; i++) { // @clean
		guard g(i); // @guard
		sink ^= risky(i);
		sink += 3;
	} // @clean_end: the guard's destructor is called here
}

//: expect retries @retries
//:   loop @outer-@retried
//:     loop @retry-@retry_end
NOINLINE void retries(int n) // @retries
{
	for (int i = 0; i < n; i++) { // @outer
		try {
			sink += risky(i);
		} catch (...) {
			for (int k = 0; k < n; k++) // @retry
				sink ^= k; // @retry_end
		} // @retried
	}
}

//: expect throws @throws
//:   loop @check-@check_end
//:   line @throw in @check
NOINLINE void throws(const int *a, int n) // @throws
{
	for (int i = 0; i < n; i++) { // @check
		sink = i;
		if (a[i] < 0)
			throw a[i]; // @throw
		sink += 2; // @check_end
	}
}

int main(int argc, char **)
{
	int a[2] = { argc, -1 };
	catches(argc);
	cleans(argc);
	retries(argc);
	throws(a, 1);
}
