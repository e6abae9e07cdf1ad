/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assembly: calls hand-written assembly code of system libraries directly, so that it is hot at once.
 * usage: assembly crypto|gmp|libc. Exits with 77 if the library is not installed.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *need(const char *name)
{
	void *function = dlsym(library, name);

	if (!function)
		exit(77);
	return function;
}

static void open_library(const char *name)
{
	library = dlopen(name, RTLD_NOW);
	if (!library)
		exit(77);
}

static void hash(const char *name, size_t state_size, const uint8_t *text, size_t len)
{
	char full[64];
	void *state = calloc(1, state_size);

	snprintf(full, sizeof(full), "%s_Init", name);
	int (*init)(void *) = (int (*)(void *))need(full);
	snprintf(full, sizeof(full), "%s_Update", name);
	int (*update)(void *, const void *, size_t) = (int (*)(void *, const void *, size_t))need(full);
	init(state);
	for (int i = 0; i < 100; i++)
		update(state, text, len);
	free(state);
}

static void crypto(void)
{
	static uint8_t text[8192], key[512], out[16];

	open_library("libcrypto.so.3");
	hash("SHA1", 256, text, sizeof(text));
	hash("SHA256", 256, text, sizeof(text));
	hash("SHA512", 512, text, sizeof(text));
	hash("MD5", 256, text, sizeof(text));

	int (*set_key)(const uint8_t *, int, void *) =
		(int (*)(const uint8_t *, int, void *))need("AES_set_encrypt_key");
	void (*encrypt)(const uint8_t *, uint8_t *, const void *) =
		(void (*)(const uint8_t *, uint8_t *, const void *))need("AES_encrypt");
	set_key(text, 256, key);
	for (int i = 0; i < 300; i++)
		encrypt(text + i, out, key);

	void *(*bn_new)(void) = (void *(*)(void))need("BN_new");
	void *(*ctx_new)(void) = (void *(*)(void))need("BN_CTX_new");
	void *(*from_bytes)(const uint8_t *, int, void *) =
		(void *(*)(const uint8_t *, int, void *))need("BN_bin2bn");
	int (*power)(void *, void *, void *, void *, void *) =
		(int (*)(void *, void *, void *, void *, void *))need("BN_mod_exp");
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (uint8_t)(i * 37 + 11);
	text[127] |= 1;
	power(bn_new(), from_bytes(text + 200, 128, NULL), from_bytes(text + 400, 16, NULL),
	      from_bytes(text, 128, NULL), ctx_new());
}

static void gmp(void)
{
	static uint64_t a[600], b[600], product[1200], quotient[700];

	open_library("libgmp.so.10");
	void (*mul)(uint64_t *, const uint64_t *, const uint64_t *, long) =
		(void (*)(uint64_t *, const uint64_t *, const uint64_t *, long))need("__gmpn_mul_n");
	void (*sqr)(uint64_t *, const uint64_t *, long) =
		(void (*)(uint64_t *, const uint64_t *, long))need("__gmpn_sqr");
	void (*divide)(uint64_t *, uint64_t *, long, const uint64_t *, long, const uint64_t *, long) =
		(void (*)(uint64_t *, uint64_t *, long, const uint64_t *, long, const uint64_t *, long))need(
			"__gmpn_tdiv_qr");
	for (int i = 0; i < 600; i++) {
		a[i] = (uint64_t)(i + 1) * 0x9e3779b97f4a7c15;
		b[i] = (uint64_t)(i + 7) * 0xd6e8feb86659fd93;
	}
	for (long i = 0; i < 10; i++)
		for (long n = 1; n < 600; n += n / 4 + 1) {
			mul(product, a, b, n);
			sqr(product, a, n);
			divide(quotient, a, 0, product, 2 * n, b, n);
		}
}

/* On AArch64, rawmemchr keeps its return address in x15 and calls strlen through a stub. */
static void libc(void)
{
	static const char *const texts[] = { "", "short",
					     "a text that is longer than a vector of the machine" };

	open_library("libc.so.6");
	void *(*find)(const void *, int) = (void *(*)(const void *, int))need("rawmemchr");
	for (size_t i = 0; i < 500000; i++)
		find(texts[i % 3], 0);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "crypto") == 0)
		crypto();
	else if (argc > 1 && strcmp(argv[1], "libc") == 0)
		libc();
	else
		gmp();
	return 0;
}
