/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a64_table_vector: floating point, SIMD and SVE.
 *
 * Only what moves a general register matters to the analysis. The last row of each table takes everything
 * else, so that an unknown vector extension is an instruction without effects. Instructions that differ
 * only by a number are one row whose mnemonic an operand looks up.
 */
#include "binary/isa/a64/a64.h"

/* clang-format off */
#define TABLE(rows_) { rows_, ARRAY_LEN(rows_) }
#define SIMD(mask, bits, text) { mask, bits, A64_PLAIN, 0, text }
#define READS(mask, bits, text) { mask, bits, A64_PLAIN, A64_RN, text }
#define WRITES(mask, bits, text) { mask, bits, A64_PLAIN, A64_WD, text }
#define FLAGS(mask, bits, text) { mask, bits, A64_PLAIN, A64_FLAGS, text }

static const struct a64_row vector_rows[] = {
	/* floating point: moves to and from general registers, conversions */
	READS(0x7f3ffc00, 0x1e270000, "fmov {fd}, {rn}"),
	WRITES(0x7f3ffc00, 0x1e260000, "fmov {rd}, {fn}"),
	READS(0xfffffc00, 0x9eaf0000, "fmov {vd}.d[1], {xn}"),
	WRITES(0xfffffc00, 0x9eae0000, "fmov {xd}, {vn}.d[1]"),
	READS(0x7f3ffc00, 0x1e220000, "scvtf {fd}, {rn}"),
	READS(0x7f3ffc00, 0x1e230000, "ucvtf {fd}, {rn}"),
	WRITES(0x7f27fc00, 0x1e200000, "fcvt{rounding}s {rd}, {fn}"),
	WRITES(0x7f27fc00, 0x1e210000, "fcvt{rounding}u {rd}, {fn}"),
	WRITES(0x7f3ffc00, 0x1e240000, "fcvtas {rd}, {fn}"),
	WRITES(0x7f3ffc00, 0x1e250000, "fcvtau {rd}, {fn}"),
	WRITES(0xfffffc00, 0x1e7e0000, "fjcvtzs {wd}, {dn}"),
	READS(0x7f3f0000, 0x1e020000, "scvtf {fd}, {rn}, #{fraction}"),
	READS(0x7f3f0000, 0x1e030000, "ucvtf {fd}, {rn}, #{fraction}"),
	WRITES(0x7f3f0000, 0x1e180000, "fcvtzs {rd}, {fn}, #{fraction}"),
	WRITES(0x7f3f0000, 0x1e190000, "fcvtzu {rd}, {fn}, #{fraction}"),

	/* floating point: the rest */
	SIMD(0xff200c00, 0x1e200800, "{fp_two} {fd}, {fn}, {fm}"),
	SIMD(0xff201fe0, 0x1e201000, "fmov {fd}, {fp_imm8}"),
	SIMD(0xff3ffc00, 0x1e224000, "fcvt {sd}, {fn}"),
	SIMD(0xff3ffc00, 0x1e22c000, "fcvt {dd}, {fn}"),
	SIMD(0xff3ffc00, 0x1e23c000, "fcvt {hd}, {fn}"),
	SIMD(0xfffffc00, 0x1e634000, "bfcvt {hd}, {sn}"),
	SIMD(0xff207c00, 0x1e204000, "{fp_one} {fd}, {fn}"),
	FLAGS(0xff20fc1f, 0x1e202000, "fcmp {fn}, {fm}"),
	FLAGS(0xff20fc1f, 0x1e202010, "fcmpe {fn}, {fm}"),
	FLAGS(0xff20fc1f, 0x1e202008, "fcmp {fn}, #0.0"),
	FLAGS(0xff20fc1f, 0x1e202018, "fcmpe {fn}, #0.0"),
	FLAGS(0xff200c10, 0x1e200400, "fccmp {fn}, {fm}, #{imm4.0x}, {cond.12}"),
	FLAGS(0xff200c10, 0x1e200410, "fccmpe {fn}, {fm}, #{imm4.0x}, {cond.12}"),
	SIMD(0xff200c00, 0x1e200c00, "fcsel {fd}, {fn}, {fm}, {cond.12}"),
	SIMD(0xff208000, 0x1f000000, "fmadd {fd}, {fn}, {fm}, {fa}"),
	SIMD(0xff208000, 0x1f008000, "fmsub {fd}, {fn}, {fm}, {fa}"),
	SIMD(0xff208000, 0x1f200000, "fnmadd {fd}, {fn}, {fm}, {fa}"),
	SIMD(0xff208000, 0x1f208000, "fnmsub {fd}, {fn}, {fm}, {fa}"),

	/* lanes to and from general registers and each other */
	READS(0xbfe0fc00, 0x0e000c00, "dup {vd}.{lanes}, {lane_r}"),
	READS(0xffe0fc00, 0x4e001c00, "mov {vd}.{lane_d}, {lane_r}"),
	WRITES(0xbfe0fc00, 0x0e002c00, "smov {by_q_d}, {vn}.{lane_d}"),
	WRITES(0xbfe0fc00, 0x0e003c00, "{umov} {by_q_d}, {vn}.{lane_d}"),
	SIMD(0xbfe0fc00, 0x0e000400, "dup {vd}.{lanes}, {vn}.{lane_d}"),
	SIMD(0xffe08400, 0x6e000400, "mov {vd}.{lane_d}, {vn}.{lane_n}"),
	SIMD(0xffe0fc00, 0x5e000400, "mov {lane_scalar}, {vn}.{lane_d}"),

	/* three registers */
	SIMD(0xbf20fc00, 0x0e201c00, "{logic}"),
	SIMD(0xbf20fc00, 0x2e201c00, "{logic}"),
	SIMD(0x9f20c400, 0x0e20c400, "{fp_three} {vd}.{Tf}, {vn}.{Tf}, {vm}.{Tf}"),
	SIMD(0x9f200400, 0x0e200400, "{three} {vd}.{T}, {vn}.{T}, {vm}.{T}"),
	SIMD(0xdf20c400, 0x5e20c400, "{fp_three} {zfd}, {zfn}, {zfm}"),
	SIMD(0xdf200400, 0x5e200400, "{three} {zd}, {zn}, {zm}"),
	SIMD(0x9f60c400, 0x0e400400, "{fp_three} {vd}.{Th}, {vn}.{Th}, {vm}.{Th}"),
	SIMD(0xdf60c400, 0x5e400400, "{fp_three} {hd}, {hn}, {hm}"),
	SIMD(0x9fe0fc00, 0x0e809400, "{dot} {vd}.{Ts}, {vn}.{Tb}, {vm}.{Tb}"),
	SIMD(0xbfe0fc00, 0x0e809c00, "usdot {vd}.{Ts}, {vn}.{Tb}, {vm}.{Tb}"),
	SIMD(0xffe0fc00, 0x4e80a400, "smmla {vd}.4s, {vn}.16b, {vm}.16b"),
	SIMD(0xffe0fc00, 0x6e80a400, "ummla {vd}.4s, {vn}.16b, {vm}.16b"),
	SIMD(0xffe0fc00, 0x4e80ac00, "usmmla {vd}.4s, {vn}.16b, {vm}.16b"),
	SIMD(0xbfe0fc00, 0x2e40fc00, "bfdot {vd}.{Ts}, {vn}.{Th}, {vm}.{Th}"),
	SIMD(0xffe0fc00, 0x6e40ec00, "bfmmla {vd}.4s, {vn}.8h, {vm}.8h"),
	SIMD(0xbf20fc00, 0x2e008400, "sqrdmlah {vd}.{T}, {vn}.{T}, {vm}.{T}"),
	SIMD(0xbf20fc00, 0x2e008c00, "sqrdmlsh {vd}.{T}, {vn}.{T}, {vm}.{T}"),
	SIMD(0xbf20e400, 0x2e00c400, "fcmla {vd}.{T}, {vn}.{T}, {vm}.{T}, #{rotate90}"),
	SIMD(0xbf20ec00, 0x2e00e400, "fcadd {vd}.{T}, {vn}.{T}, {vm}.{T}, #{rotate180}"),

	/* two registers */
	SIMD(0xbffffc00, 0x2e205800, "mvn {vd}.{Tb}, {vn}.{Tb}"),
	SIMD(0xbffffc00, 0x2e605800, "rbit {vd}.{Tb}, {vn}.{Tb}"),
	SIMD(0xbf3ffc00, 0x2e213800, "shll{q} {vd}.{Tw}, {vn}.{T}, #{shll}"),
	SIMD(0x9f3ffc00, 0x0e202800, "{two} {vd}.{Tp}, {vn}.{T}"),
	SIMD(0x9f3ffc00, 0x0e206800, "{two} {vd}.{Tp}, {vn}.{T}"),
	SIMD(0xbf3ffc00, 0x0e212800, "xtn{q} {vd}.{T}, {vn}.{Tw}"),
	SIMD(0xbf3ffc00, 0x2e212800, "sqxtun{q} {vd}.{T}, {vn}.{Tw}"),
	SIMD(0xbf3ffc00, 0x0e214800, "sqxtn{q} {vd}.{T}, {vn}.{Tw}"),
	SIMD(0xbf3ffc00, 0x2e214800, "uqxtn{q} {vd}.{T}, {vn}.{Tw}"),
	SIMD(0xbffffc00, 0x0e616800, "fcvtn{q} {vd}.{Ts}, {vn}.2d"),
	SIMD(0xbffffc00, 0x0e216800, "fcvtn{q} {vd}.{Th}, {vn}.4s"),
	SIMD(0xbffffc00, 0x0ea16800, "bfcvtn{q} {vd}.{Th}, {vn}.4s"),
	SIMD(0xbffffc00, 0x0e617800, "fcvtl{q} {vd}.2d, {vn}.{Ts}"),
	SIMD(0xbffffc00, 0x0e217800, "fcvtl{q} {vd}.4s, {vn}.{Th}"),
	SIMD(0xbffffc00, 0x2e616800, "fcvtxn{q} {vd}.{Ts}, {vn}.2d"),
	SIMD(0x9f3e0c00, 0x0e200800, "{two_class}"),
	SIMD(0x9f7e0c00, 0x0e780800, "{fp_misc} {vd}.{Th}, {vn}.{Th}{fp_zero}"),
	SIMD(0xff3ffc00, 0x5e214800, "sqxtn {zd}, {zwn}"),
	SIMD(0xff3ffc00, 0x7e214800, "uqxtn {zd}, {zwn}"),
	SIMD(0xff3ffc00, 0x7e212800, "sqxtun {zd}, {zwn}"),
	SIMD(0xfffffc00, 0x7e616800, "fcvtxn {sd}, {dn}"),
	SIMD(0xdf3e0c00, 0x5e200800, "{scalar_two_class}"),
	SIMD(0xdf7e0c00, 0x5e780800, "{fp_misc} {hd}, {hn}{fp_zero}"),

	/* across lanes, and pairs of them */
	SIMD(0x9f3ffc00, 0x0e303800, "{across} {zwd}, {vn}.{T}"),
	SIMD(0x9f3ffc00, 0x0e30a800, "{across} {zd}, {vn}.{T}"),
	SIMD(0x9f3ffc00, 0x0e31a800, "{across} {zd}, {vn}.{T}"),
	SIMD(0xbf3ffc00, 0x0e31b800, "addv {zd}, {vn}.{T}"),
	SIMD(0x9f7ffc00, 0x0e30c800, "{fp_across} {across_fd}, {vn}.{across_T}"),
	SIMD(0x9f7ffc00, 0x0e30f800, "{fp_across} {across_fd}, {vn}.{across_T}"),
	SIMD(0xff3ffc00, 0x5e31b800, "addp {zd}, {vn}.2d"),
	SIMD(0xff3ffc00, 0x7e30d800, "faddp {zfd}, {vn}.{pair_T}"),
	SIMD(0xff3ffc00, 0x7e30c800, "{fp_pair} {zfd}, {vn}.{pair_T}"),
	SIMD(0xff3ffc00, 0x7e30f800, "{fp_pair} {zfd}, {vn}.{pair_T}"),

	/* longer, wider, narrower results */
	SIMD(0x9f20fc00, 0x0e201000, "{long}{q} {vd}.{Tw}, {vn}.{Tw}, {vm}.{T}"),
	SIMD(0x9f20fc00, 0x0e203000, "{long}{q} {vd}.{Tw}, {vn}.{Tw}, {vm}.{T}"),
	SIMD(0x9f20fc00, 0x0e204000, "{long}{q} {vd}.{T}, {vn}.{Tw}, {vm}.{Tw}"),
	SIMD(0x9f20fc00, 0x0e206000, "{long}{q} {vd}.{T}, {vn}.{Tw}, {vm}.{Tw}"),
	SIMD(0x9f200c00, 0x0e200000, "{long}{q} {vd}.{Tw}, {vn}.{T}, {vm}.{T}"),
	SIMD(0xff200c00, 0x5e200000, "{long} {zwd}, {zn}, {zm}"),

	/* shuffles */
	SIMD(0xbf208c00, 0x0e000800, "{permute} {vd}.{T}, {vn}.{T}, {vm}.{T}"),
	SIMD(0xbfe08400, 0x2e000000, "ext {vd}.{Tb}, {vn}.{Tb}, {vm}.{Tb}, #{imm4.11}"),
	SIMD(0xbfe08c00, 0x0e000000, "{tbl} {vd}.{Tb}, {tbl_list}, {vm}.{Tb}"),

	/* immediates and shifts; immh = 0 is an immediate */
	SIMD(0x9ff80c00, 0x0f000400, "{modified_immediate}"),
	SIMD(0xbff8fc00, 0x0f00fc00, "fmov {vd}.{Th}, {fp_imm8_vector}"),
	SIMD(0x9f80fc00, 0x0f00a400, "{shift_long}"),
	SIMD(0x9f80e400, 0x0f008400, "{shift_right}{q} {vd}.{shift_Tn}, {vn}.{shift_Tw}, #{right_amount}"),
	SIMD(0x9f80d400, 0x0f005400, "{shift_left} {vd}.{shift_T}, {vn}.{shift_T}, #{left_amount}"),
	SIMD(0xbf80fc00, 0x2f006400, "sqshlu {vd}.{shift_T}, {vn}.{shift_T}, #{left_amount}"),
	SIMD(0x9f800400, 0x0f000400, "{shift_right} {vd}.{shift_T}, {vn}.{shift_T}, #{right_amount}"),
	SIMD(0xdf80e400, 0x5f008400, "{shift_right} {shift_zd}, {shift_zwn}, #{right_amount}"),
	SIMD(0xdf80d400, 0x5f005400, "{shift_left} {shift_zd}, {shift_zn}, #{left_amount}"),
	SIMD(0xff80fc00, 0x7f006400, "sqshlu {shift_zd}, {shift_zn}, #{left_amount}"),
	SIMD(0xdf800400, 0x5f000400, "{shift_right} {shift_zd}, {shift_zn}, #{right_amount}"),

	/* by element */
	SIMD(0x9f000400, 0x0f000000, "{by_element}"),
	SIMD(0xdf000400, 0x5f000000, "{scalar_by_element}"),

	/* ciphers and hashes */
	SIMD(0xfffffc00, 0x4e284800, "aese {vd}.16b, {vn}.16b"),
	SIMD(0xfffffc00, 0x4e285800, "aesd {vd}.16b, {vn}.16b"),
	SIMD(0xfffffc00, 0x4e286800, "aesmc {vd}.16b, {vn}.16b"),
	SIMD(0xfffffc00, 0x4e287800, "aesimc {vd}.16b, {vn}.16b"),
	SIMD(0xffe0fc00, 0x5e000000, "sha1c {qd}, {sn}, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e001000, "sha1p {qd}, {sn}, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e002000, "sha1m {qd}, {sn}, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e003000, "sha1su0 {vd}.4s, {vn}.4s, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e004000, "sha256h {qd}, {qn}, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e005000, "sha256h2 {qd}, {qn}, {vm}.4s"),
	SIMD(0xffe0fc00, 0x5e006000, "sha256su1 {vd}.4s, {vn}.4s, {vm}.4s"),
	SIMD(0xfffffc00, 0x5e280800, "sha1h {sd}, {sn}"),
	SIMD(0xfffffc00, 0x5e281800, "sha1su1 {vd}.4s, {vn}.4s"),
	SIMD(0xfffffc00, 0x5e282800, "sha256su0 {vd}.4s, {vn}.4s"),
	SIMD(0xffe0fc00, 0xce608000, "sha512h {qd}, {qn}, {vm}.2d"),
	SIMD(0xffe0fc00, 0xce608400, "sha512h2 {qd}, {qn}, {vm}.2d"),
	SIMD(0xffe0fc00, 0xce608800, "sha512su1 {vd}.2d, {vn}.2d, {vm}.2d"),
	SIMD(0xfffffc00, 0xcec08000, "sha512su0 {vd}.2d, {vn}.2d"),
	SIMD(0xffe0fc00, 0xce608c00, "rax1 {vd}.2d, {vn}.2d, {vm}.2d"),
	SIMD(0xffe08000, 0xce000000, "eor3 {vd}.16b, {vn}.16b, {vm}.16b, {va}.16b"),
	SIMD(0xffe08000, 0xce200000, "bcax {vd}.16b, {vn}.16b, {vm}.16b, {va}.16b"),
	SIMD(0xffe00000, 0xce800000, "xar {vd}.2d, {vn}.2d, {vm}.2d, #{imm6.10}"),
	SIMD(0xffe08000, 0xce400000, "sm3ss1 {vd}.4s, {vn}.4s, {vm}.4s, {va}.4s"),
	SIMD(0xffe0cc00, 0xce408000, "sm3tt1a {vd}.4s, {vn}.4s, {vm}.s[{imm2.12}]"),
	SIMD(0xffe0cc00, 0xce408400, "sm3tt1b {vd}.4s, {vn}.4s, {vm}.s[{imm2.12}]"),
	SIMD(0xffe0cc00, 0xce408800, "sm3tt2a {vd}.4s, {vn}.4s, {vm}.s[{imm2.12}]"),
	SIMD(0xffe0cc00, 0xce408c00, "sm3tt2b {vd}.4s, {vn}.4s, {vm}.s[{imm2.12}]"),
	SIMD(0xffe0fc00, 0xce60c000, "sm3partw1 {vd}.4s, {vn}.4s, {vm}.4s"),
	SIMD(0xffe0fc00, 0xce60c400, "sm3partw2 {vd}.4s, {vn}.4s, {vm}.4s"),
	SIMD(0xfffffc00, 0xcec08400, "sm4e {vd}.4s, {vn}.4s"),
	SIMD(0xffe0fc00, 0xce60c800, "sm4ekey {vd}.4s, {vn}.4s, {vm}.4s"),
	SIMD(0, 0, NULL),
};

static const struct a64_row sve_rows[] = {
	{ 0xff30fc00, 0x0420e000, A64_PLAIN, A64_WD, "cnt{sve_size} {xd}{sve_pattern}" },
	{ 0xff30f800, 0x0430e000, A64_PLAIN, A64_WD | A64_RD, "{inc_dec}{sve_size} {xd}{sve_pattern}" },
	{ 0xff20f000, 0x0420f000, A64_PLAIN, A64_WD | A64_RD, NULL },  /* sqincb.. */
	{ 0xfffff800, 0x04bf5000, A64_PLAIN, A64_WD, "rdvl {xd}, #{simm6.5}" },
	{ 0xfffff800, 0x04bf5800, A64_PLAIN, A64_WD, "rdsvl {xd}, #{simm6.5}" },
	{ 0xffe0f800, 0x04205000, A64_PLAIN, A64_WD | A64_DSP, "addvl {xd:sp}, {xm:sp}, #{simm6.5}" },
	{ 0xffe0f800, 0x04605000, A64_PLAIN, A64_WD | A64_DSP, "addpl {xd:sp}, {xm:sp}, #{simm6.5}" },
	{ 0xffa0f800, 0x04205800, A64_PLAIN, A64_WD | A64_DSP, NULL }, /* addsvl, addspl */
	{ 0xff3fc000, 0x25208000, A64_PLAIN, A64_WD, NULL },	       /* cntp */
	{ 0xff3efe00, 0x252c8800, A64_PLAIN, A64_WD | A64_RD, NULL },  /* incp, decp */
	{ 0xff3cfa00, 0x25288800, A64_PLAIN, A64_WD | A64_RD, NULL },  /* sqincp.. */
	{ 0xff3ee000, 0x0520a000, A64_PLAIN, A64_WD, NULL },	       /* lasta, lastb */
	{ 0xff3ee000, 0x0530a000, A64_PLAIN, A64_WD | A64_RD, NULL },  /* clasta, clastb */
	{ 0xff3ffc10, 0x2518e000, A64_PLAIN, 0, "ptrue {pd}.{sve_T}{sve_pattern}" },
	{ 0xff20ec10, 0x25200c00, A64_PLAIN, A64_FLAGS | A64_RN | A64_RM, "whilelo {pd}.{sve_T}, {while_n}, {while_m}" },
	{ 0xffe0e000, 0xa4004000, A64_PLAIN, A64_RN | A64_NSP | A64_RM, "ld1b {sve_list_b}, {pg}/z, [{xn:sp}, {xm}]" },
	{ 0xfff0e000, 0xa400a000, A64_PLAIN, A64_RN | A64_NSP, "ld1b {sve_list_b}, {pg}/z, [{xn:sp}{mul_vl}]" },
	{ 0xffe0e000, 0xe4004000, A64_PLAIN, A64_RN | A64_NSP | A64_RM, "st1b {sve_list_b}, {pg}, [{xn:sp}, {xm}]" },
	{ 0xfff0e000, 0xe400e000, A64_PLAIN, A64_RN | A64_NSP, "st1b {sve_list_b}, {pg}, [{xn:sp}{mul_vl}]" },
	FLAGS(0xfe000000, 0x24000000, NULL), /* compares, predicates: most set the flags */
	SIMD(0, 0, NULL),
};

const struct a64_table a64_vector = TABLE(vector_rows), a64_sve = TABLE(sve_rows);
/* clang-format on */
