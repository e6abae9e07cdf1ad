/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_table_vector: floating point, SIMD and SVE.
 *
 * Only what moves a general register matters to the analysis; the last row of each table takes all
 * else, so that a vector extension we have not met is an instruction that does nothing to us.
 */
#include "binary/a64.h"

#define TABLE(rows_) { rows_, ARRAY_LEN(rows_) }

static const struct a64_row vector_rows[] = {
	/* to and from general registers */
	{ 0x7f3efc00, 0x1e220000, A64_PLAIN, A64_RN, NULL },		 /* scvtf, ucvtf */
	{ 0x7f3ffc00, 0x1e270000, A64_PLAIN, A64_RN, NULL },		 /* fmov */
	{ 0xfffffc00, 0x9eaf0000, A64_PLAIN, A64_RN, NULL },		 /* fmov to the upper half */
	{ 0x7f26fc00, 0x1e200000, A64_PLAIN, A64_WD, NULL },		 /* fcvtns.. */
	{ 0x7f3efc00, 0x1e240000, A64_PLAIN, A64_WD, NULL },		 /* fcvtas, fcvtau */
	{ 0x7f3ffc00, 0x1e260000, A64_PLAIN, A64_WD, NULL },		 /* fmov */
	{ 0xfffffc00, 0x9eae0000, A64_PLAIN, A64_WD, NULL },		 /* fmov of the upper half */
	{ 0xfffffc00, 0x1e7e0000, A64_PLAIN, A64_WD, NULL },		 /* fjcvtzs */
	{ 0x7f3f0000, 0x1e020000, A64_PLAIN, A64_RN, NULL },
	{ 0x7f3f0000, 0x1e030000, A64_PLAIN, A64_RN, NULL },
	{ 0x7f3e0000, 0x1e180000, A64_PLAIN, A64_WD, NULL },
	{ 0xbfe0fc00, 0x0e002c00, A64_PLAIN, A64_WD, NULL },
	{ 0xbfe0fc00, 0x0e003c00, A64_PLAIN, A64_WD, NULL },
	{ 0xbfe0fc00, 0x0e000c00, A64_PLAIN, A64_RN, NULL },
	{ 0xffe0fc00, 0x4e001c00, A64_PLAIN, A64_RN, NULL },
	{ 0xff20fc07, 0x1e202000, A64_PLAIN, A64_FLAGS, NULL },
	{ 0xff200c00, 0x1e200400, A64_PLAIN, A64_FLAGS, NULL },
	{ 0, 0, A64_PLAIN, 0, NULL },
};

static const struct a64_row sve_rows[] = {
	{ 0xff30fc00, 0x0420e000, A64_PLAIN, A64_WD, NULL },		   /* cntb.. */
	{ 0xff30f800, 0x0430e000, A64_PLAIN, A64_WD | A64_RD, NULL },	   /* incb, decb.. */
	{ 0xff20f000, 0x0420f000, A64_PLAIN, A64_WD | A64_RD, NULL },	   /* sqincb.. */
	{ 0xffbff000, 0x04bf5000, A64_PLAIN, A64_WD, NULL },		   /* rdvl, rdsvl */
	{ 0xffa0f000, 0x04205000, A64_PLAIN, A64_WD | A64_DSP, NULL },	   /* addvl, addpl */
	{ 0xff3fc000, 0x25208000, A64_PLAIN, A64_WD, NULL },		   /* cntp */
	{ 0xff3efe00, 0x252c8800, A64_PLAIN, A64_WD | A64_RD, NULL },	   /* incp, decp */
	{ 0xff3cfa00, 0x25288800, A64_PLAIN, A64_WD | A64_RD, NULL },	   /* sqincp.. */
	{ 0xff3ee000, 0x0520a000, A64_PLAIN, A64_WD, NULL },		   /* lasta, lastb */
	{ 0xff3ee000, 0x0530a000, A64_PLAIN, A64_WD | A64_RD, NULL },	   /* clasta, clastb */
	{ 0xfe000000, 0x24000000, A64_PLAIN, A64_FLAGS, NULL },		   /* compares, predicates: most set the flags */
	{ 0, 0, A64_PLAIN, 0, NULL },
};

const struct a64_table a64_vector = TABLE(vector_rows), a64_sve = TABLE(sve_rows);
