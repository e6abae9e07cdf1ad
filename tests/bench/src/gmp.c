/* SPDX-License-Identifier: Apache-2.0 */
#include <gmp.h>
#include <stdio.h>
#include <stdlib.h>
static void bs(mpz_t P, mpz_t Q, mpz_t T, long a, long b)
{
	if (b - a == 1) {
		if (a == 0) {
			mpz_set_ui(P, 1);
			mpz_set_ui(Q, 1);
		} else {
			mpz_set_ui(P, 6 * a - 5);
			mpz_mul_ui(P, P, 2 * a - 1);
			mpz_mul_ui(P, P, 6 * a - 1);
			mpz_set_ui(Q, a);
			mpz_mul_ui(Q, Q, a);
			mpz_mul_ui(Q, Q, a);
			mpz_mul_ui(Q, Q, 10939058860032000ul);
		}
		mpz_set_ui(T, 545140134);
		mpz_mul_ui(T, T, a);
		mpz_add_ui(T, T, 13591409);
		mpz_mul(T, T, P);
		if (a & 1)
			mpz_neg(T, T);
		return;
	}
	long m = (a + b) / 2;
	mpz_t p, q, t;
	mpz_inits(p, q, t, 0);
	bs(P, Q, T, a, m);
	bs(p, q, t, m, b);
	mpz_mul(T, T, q);
	mpz_mul(t, t, P);
	mpz_add(T, T, t);
	mpz_mul(P, P, p);
	mpz_mul(Q, Q, q);
	mpz_clears(p, q, t, 0);
}
static unsigned long pi(long digits)
{
	mpz_t P, Q, T, S;
	mpz_inits(P, Q, T, S, 0);
	bs(P, Q, T, 0, digits / 14 + 1);
	mpz_ui_pow_ui(S, 10, 2 * digits);
	mpz_mul_ui(S, S, 10005);
	mpz_sqrt(S, S);
	mpz_mul_ui(S, S, 426880);
	mpz_mul(S, S, Q);
	mpz_tdiv_q(S, S, T);
	unsigned long r = mpz_fdiv_ui(S, 1000003);
	char *s = mpz_get_str(0, 10, S);
	r += s[digits / 2];
	free(s);
	mpz_clears(P, Q, T, S, 0);
	return r;
}
static unsigned long powm(int n)
{
	mpz_t b, e, m, r;
	mpz_inits(b, e, m, r, 0);
	mpz_ui_pow_ui(m, 3, 1300);
	mpz_add_ui(m, m, 2);
	mpz_ui_pow_ui(e, 7, 700);
	mpz_ui_pow_ui(b, 5, 800);
	for (int i = 0; i < n; i++) {
		mpz_powm(r, b, e, m);
		mpz_add_ui(b, r, i);
	}
	unsigned long x = mpz_fdiv_ui(r, 1000003);
	mpz_clears(b, e, m, r, 0);
	return x;
}
static unsigned long gcds(int n)
{
	mpz_t a, b, g;
	mpz_inits(a, b, g, 0);
	unsigned long x = 0;
	for (int i = 0; i < n; i++) {
		mpz_fib_ui(a, 60000 + i);
		mpz_fac_ui(b, 6000 + i);
		mpz_gcd(g, a, b);
		x += mpz_fdiv_ui(g, 1000003);
	}
	mpz_clears(a, b, g, 0);
	return x;
}
static unsigned long primes(int n)
{
	mpz_t p;
	mpz_init(p);
	mpz_ui_pow_ui(p, 2, 400);
	for (int i = 0; i < n; i++) {
		mpz_nextprime(p, p);
	}
	unsigned long x = mpz_fdiv_ui(p, 1000003);
	mpz_clear(p);
	return x;
}
int main(int c, char **v)
{
	int n = c > 1 ? atoi(v[1]) : 5;
	unsigned long s = 0;
	for (int i = 0; i < n; i++)
		s += pi(200000) + powm(30) + gcds(12) + primes(8);
	printf("%lu\n", s);
}
