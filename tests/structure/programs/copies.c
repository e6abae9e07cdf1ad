/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops that optimisers copy: vector body and remainder, versions for overlapping arrays, peeled and
 * unrolled iterations, a loop unswitched by a condition. Each must be shown as one loop, as in the source.
 */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

volatile int sink;

//: expect saxpy @saxpy
//:   loop @s-@s_end vector copies
NOINLINE void saxpy(float *y, const float *x, float a, long n) /* @saxpy */
{
	for (long i = 0; i < n; i++) /* @s */
		y[i] = a * x[i] + y[i]; /* @s_end */
}

//: expect sum @sum
//:   loop @t-@t_end vector
NOINLINE int sum(const int *x, int n) /* @sum */
{
	int total = 0;

	for (int i = 0; i < n; i++) { /* @t */
		total += x[i]; /* @t_end */
	}
	return total;
}

//: expect unswitched @unswitched
//:   loop @u-@u_end
NOINLINE void unswitched(int *x, int n, int mode) /* @unswitched */
{
	for (int i = 0; i < n; i++) { /* @u */
		if (mode)
			x[i] += sink;
		else
			x[i] -= sink;
		x[i] ^= mode; /* @u_end */
	}
}

//: expect product @product
//:   loop @pi-@store
//:     loop @pj-@store
//:       loop @pk-@inner
NOINLINE void product(double *c, const double *a, const double *b, long n) /* @product */
{
	for (long i = 0; i < n; i++) { /* @pi */
		for (long j = 0; j < n; j++) { /* @pj */
			double t = 0;
			for (long k = 0; k < n; k++) /* @pk */
				t += a[i * n + k] * b[k * n + j]; /* @inner */
			c[i * n + j] = t; /* @store */
		}
	}
}

//: expect two_steps @two_steps
//:   loop @a1-@a1_end vector copies
//:   loop @a2-@a2_end vector
NOINLINE void two_steps(int *x, const int *y, int n) /* @two_steps */
{
	for (int i = 0; i < n; i++) /* @a1 */
		x[i] = y[i] * 3; /* @a1_end */
	sink = n;
	for (int i = 0; i < n; i++) /* @a2 */
		x[i] += y[n - i - 1]; /* @a2_end */
}

int main(int argc, char **argv)
{
	static float f[256];
	static int i[256];
	static double d[256];

	saxpy(f, f + argc, 2, argc);
	sum(i, argc);
	unswitched(i, argc, argv[0] != 0);
	product(d, d + 16, d + 32, argc);
	two_steps(i, i + 128, argc);
	return 0;
}
