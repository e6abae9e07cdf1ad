/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
extern void dgemm_(char *, char *, int *, int *, int *, double *, double *, int *, double *, int *, double *,
		   double *, int *);
extern void sgemm_(char *, char *, int *, int *, int *, float *, float *, int *, float *, int *, float *,
		   float *, int *);
extern void dgetrf_(int *, int *, double *, int *, int *, int *);
extern void dgemv_(char *, int *, int *, double *, double *, int *, double *, int *, double *, double *,
		   int *);
extern double ddot_(int *, double *, int *, double *, int *);
extern void dsyev_(char *, char *, int *, double *, int *, double *, double *, int *, int *);
int main(int ac, char **av)
{
	int reps = ac > 1 ? atoi(av[1]) : 5, n = 600, one = 1, info;
	double *a = malloc(8 * n * n), *b = malloc(8 * n * n), *c = calloc(8, n * n), *w = malloc(8 * n * 64);
	int *ip = malloc(4 * n);
	float *fa = malloc(4 * n * n), *fb = malloc(4 * n * n), *fc = calloc(4, n * n);
	double al = 1, be = 0.5, s = 0;
	float fal = 1, fbe = .5;
	int lw = n * 60;
	double *ev = malloc(8 * n);
	for (int r = 0; r < reps; r++) {
		unsigned x = r + 1;
		for (int i = 0; i < n * n; i++) {
			x = x * 1103515245 + 12345;
			a[i] = (x >> 16) / 65536.;
			b[i] = fa[i] = fb[i] = a[i];
		}
		for (int k = 0; k < 4; k++)
			dgemm_("N", "T", &n, &n, &n, &al, a, &n, b, &n, &be, c, &n);
		for (int k = 0; k < 4; k++)
			sgemm_("N", "N", &n, &n, &n, &fal, fa, &n, fb, &n, &fbe, fc, &n);
		for (int k = 0; k < 40; k++)
			dgemv_("N", &n, &n, &al, a, &n, b, &one, &be, c, &one);
		for (int k = 0; k < n; k++)
			s += ddot_(&n, a + k * n, &one, b + k * n, &one);
		dgetrf_(&n, &n, b, &n, ip, &info);
		s += b[3];
		int m = 200;
		dsyev_("V", "U", &m, a, &n, ev, w, &lw, &info);
		s += ev[0];
	}
	printf("%.8g\n", s + c[5] + fc[5]);
}
