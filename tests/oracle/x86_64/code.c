/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary compiled code to compare the decoders on: a switch, calls, vector loops, floating point, atomics. */
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

extern int callee(int, ...);
extern void (*hook[])(long);

int dispatch(int kind, int value)
{
	switch (kind) {
	case 0: return callee(value);
	case 1: return value * 3;
	case 2: return callee(value, value);
	case 3: return -value;
	case 4: return value / 7;
	case 5: return value << 3;
	case 6: return callee(kind, value, 1.0);
	case 9: return value % 10;
	default: return 0;
	}
}

double sum(const double *at, long n)
{
	double total = 0;

	for (long i = 0; i < n; i++)
		total += at[i] * at[i];
	return total;
}

void saturate(uint8_t *to, const int16_t *from, long n)
{
	for (long i = 0; i < n; i++)
		to[i] = (uint8_t)(from[i] < 0 ? 0 : from[i] > 255 ? 255 : from[i]);
}

long join(long n, ...)
{
	char buffer[64 + n];
	va_list args;
	long total = 0;

	va_start(args, n);
	memset(buffer, 0, sizeof buffer);
	while (n-- > 0) {
		total += va_arg(args, long);
		hook[n](total);
		buffer[n] = (char)total;
	}
	va_end(args);
	return total + callee(buffer[0]);
}

_Bool take(uint64_t *lock, uint64_t expected, __int128 *wide)
{
	*wide = (__int128)expected * (__int128)*lock;
	return __atomic_compare_exchange_n(lock, &expected, 1, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	       __atomic_fetch_add(lock, 2, __ATOMIC_SEQ_CST);
}

long double half(long double x)
{
	return x / 2;
}
