/* SPDX-License-Identifier: Apache-2.0 */
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static unsigned char buf[1 << 20], out[(1 << 20) + 64];
static void dg(const char *n, int k)
{
	const EVP_MD *m = EVP_get_digestbyname(n);
	unsigned char md[64];
	unsigned l;
	for (int i = 0; i < k; i++)
		EVP_Digest(buf, sizeof buf, md, &l, m, 0);
	buf[0] ^= md[0];
}
static void ci(const EVP_CIPHER *c, int k)
{
	unsigned char key[64] = { 1 }, iv[16] = { 2 };
	for (int i = 0; i < k; i++) {
		EVP_CIPHER_CTX *x = EVP_CIPHER_CTX_new();
		int l;
		EVP_EncryptInit_ex(x, c, 0, key, iv);
		EVP_EncryptUpdate(x, out, &l, buf, sizeof buf);
		EVP_EncryptFinal_ex(x, out + l, &l);
		EVP_CIPHER_CTX_free(x);
	}
}
static void sg(EVP_PKEY *k, int n)
{
	unsigned char s[600];
	for (int i = 0; i < n; i++) {
		size_t l = sizeof s;
		EVP_MD_CTX *m = EVP_MD_CTX_new();
		EVP_DigestSignInit(m, 0, EVP_sha256(), 0, k);
		EVP_DigestSign(m, s, &l, buf, 1000);
		EVP_MD_CTX_free(m);
	}
}
static void ed(EVP_PKEY *k, int n)
{
	unsigned char s[600];
	for (int i = 0; i < n; i++) {
		size_t l = sizeof s;
		EVP_MD_CTX *m = EVP_MD_CTX_new();
		EVP_DigestSignInit(m, 0, 0, 0, k);
		EVP_DigestSign(m, s, &l, buf, 1000);
		EVP_MD_CTX_free(m);
	}
}
int main(int ac, char **av)
{
	int n = ac > 1 ? atoi(av[1]) : 10;
	EVP_PKEY *r = EVP_RSA_gen(2048), *e = EVP_EC_gen("P-256"), *e3 = EVP_EC_gen("P-384");
	EVP_PKEY *d = EVP_PKEY_Q_keygen(0, 0, "ED25519");
	for (int i = 0; i < n; i++) {
		dg("sha1", 20);
		dg("sha256", 20);
		dg("sha512", 20);
		dg("sha3-256", 8);
		dg("md5", 10);
		ci(EVP_aes_128_cbc(), 15);
		ci(EVP_aes_256_gcm(), 40);
		ci(EVP_aes_256_ctr(), 40);
		ci(EVP_chacha20_poly1305(), 20);
		ci(EVP_camellia_256_cbc(), 3);
		sg(r, 15);
		sg(e, 400);
		sg(e3, 8);
		ed(d, 200);
	}
	printf("done %d\n", buf[0]);
}
