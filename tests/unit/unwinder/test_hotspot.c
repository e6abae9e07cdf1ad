/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A code cache in synthetic memory, described by a table like libjvm's; and invalid descriptions.
 */
#include <errno.h>
#include <string.h>

#include "tests/test.h"
#include "unwinder/hotspot_entry.h"
#include "unwinder/hotspot_layout.h"
#include "unwinder/hotspot_stub.h"

#define BASE 0x7f0000000000u
#define SIZE 0x8000u
#define PID 7
#define STRIDE 48

/* Offsets in the synthetic memory. */
enum {
	AT_EXPORTS = 0x10, /* the exported variables */
	AT_TABLE = 0x1000,
	AT_NAMES = 0x2000,
	AT_STATIC = 0x2fc0, /* CodeCache::_heaps */
	AT_ARRAY = 0x3000,
	AT_DATA = 0x3040,
	AT_HEAP = 0x3100,
	AT_SEGMAP = 0x3800,
	AT_CODE = 0x4000, /* 128 segments of 128 bytes */
	BLOCK = AT_CODE + 2 * 128,
	BLOB = BLOCK + 16,
	CODE_BEGIN = BLOB + 64,
	PC = CODE_BEGIN + 0x2000, /* 66 segments after the start of the block */
};

/* In the structures. */
enum { LEN = 4, DATA = 16, MEMORY = 8, SEGMAP = 72, LOG2 = 136, LOW = 16, HIGH = 24 };
enum { FRAME_SIZE_AT = 20, COMPLETE_AT = 24, BEGIN_AT = 32, OFFSET_AT = 40 };

struct hotspot_scene {
	uint8_t memory[SIZE];
	struct code_pages *pages;
	uint64_t exports[HOTSPOT_EXPORTS];
	unsigned n_entries;
	size_t names;
	struct hotspot_layout layout;
};

static ssize_t hotspot_scene_read(void *context, pid_t pid, uint64_t addr, void *to, size_t len)
{
	const struct hotspot_scene *scene = context;
	uint64_t offset = addr - BASE;

	if (pid != PID || offset >= SIZE)
		return -EFAULT;
	len = len < SIZE - offset ? len : SIZE - offset;
	memcpy(to, scene->memory + offset, len);
	return (ssize_t)len;
}

static void put(struct hotspot_scene *scene, size_t at, uint64_t value, size_t size)
{
	memcpy(scene->memory + at, &value, size);
}

static uint64_t put_name(struct hotspot_scene *scene, const char *name)
{
	size_t at = scene->names;

	memcpy(scene->memory + at, name, strlen(name) + 1);
	scene->names += strlen(name) + 1;
	return BASE + at;
}

static void put_entry(struct hotspot_scene *scene, const char *type, const char *field, const char *of_type,
		      uint64_t value)
{
	size_t at = AT_TABLE + STRIDE * scene->n_entries++;
	bool is_static = strcmp(field, "_heaps") == 0;

	put(scene, at, put_name(scene, type), 8);
	put(scene, at + 8, put_name(scene, field), 8);
	put(scene, at + 16, put_name(scene, of_type), 8);
	put(scene, at + 24, is_static, 4);
	put(scene, at + 32, is_static ? 0 : value, 8);
	put(scene, at + 40, is_static ? value : 0, 8);
}

static void put_exports(struct hotspot_scene *scene)
{
	const uint64_t values[HOTSPOT_EXPORTS] = { BASE + AT_TABLE, 0, 8, 16, 32, 40, STRIDE };

	for (unsigned i = 0; i < HOTSPOT_EXPORTS; i++) {
		scene->exports[i] = BASE + AT_EXPORTS + 8 * i;
		put(scene, AT_EXPORTS + 8 * i, values[i], 8);
	}
}

static void put_table(struct hotspot_scene *scene, bool is_new)
{
	put_entry(scene, "Klass", "_name", "Symbol*", 24);
	put_entry(scene, "CodeCache", "_heaps", "GrowableArray<CodeHeap*>*", BASE + AT_STATIC);
	put_entry(scene, "GrowableArrayBase", "_max", "int", 8);
	put_entry(scene, "GrowableArrayBase", "_len", "int", LEN);
	put_entry(scene, "GrowableArray<int>", "_data", "int*", DATA);
	put_entry(scene, "CodeHeap", "_memory", "VirtualSpace", MEMORY);
	put_entry(scene, "CodeHeap", "_segmap", "VirtualSpace", SEGMAP);
	put_entry(scene, "CodeHeap", "_log2_segment_size", "int", LOG2);
	put_entry(scene, "VirtualSpace", "_low", "char*", LOW);
	put_entry(scene, "VirtualSpace", "_high", "char*", HIGH);
	put_entry(scene, "HeapBlock::Header", "_length", "size_t", 0);
	put_entry(scene, "HeapBlock::Header", "_used", "bool", 8);
	put_entry(scene, "CodeBlob", "_frame_complete_offset", is_new ? "int16_t" : "int", COMPLETE_AT);
	if (is_new)
		put_entry(scene, "CodeBlob", "_code_offset", "uint16_t", OFFSET_AT);
	else
		put_entry(scene, "CodeBlob", "_code_begin", "address", BEGIN_AT);
	put_entry(scene, "CodeBlob", "_frame_size", "int", FRAME_SIZE_AT);
}

static void put_cache(struct hotspot_scene *scene)
{
	put(scene, AT_STATIC, BASE + AT_ARRAY, 8);
	put(scene, AT_ARRAY + LEN, 2, 4);
	put(scene, AT_ARRAY + DATA, BASE + AT_DATA, 8);
	put(scene, AT_DATA, 0, 8); /* a heap that does not exist */
	put(scene, AT_DATA + 8, BASE + AT_HEAP, 8);
	put(scene, AT_HEAP + MEMORY + LOW, BASE + AT_CODE, 8);
	put(scene, AT_HEAP + MEMORY + HIGH, BASE + SIZE, 8);
	put(scene, AT_HEAP + SEGMAP + LOW, BASE + AT_SEGMAP, 8);
	put(scene, AT_HEAP + SEGMAP + HIGH, BASE + AT_SEGMAP + 128, 8);
	put(scene, AT_HEAP + LOG2, 7, 4);
	memset(scene->memory + AT_SEGMAP, 255, 128);
	for (unsigned i = 0; i < 100; i++) /* the block: segments 2 to 101, with back links of at most 32 */
		scene->memory[AT_SEGMAP + 2 + i] = (uint8_t)(i % 32 ? i % 32 : i ? 32 : 0);
	put(scene, BLOCK, 100, 8);
	put(scene, BLOCK + 8, 1, 1);
	put(scene, BLOB + FRAME_SIZE_AT, 6, 4);
	put(scene, BLOB + COMPLETE_AT, 0x20, 2);
	put(scene, BLOB + BEGIN_AT, BASE + CODE_BEGIN, 8);
	put(scene, BLOB + OFFSET_AT, CODE_BEGIN - BLOB, 2);
}

static struct hotspot_scene *hotspot_scene_new(bool is_new)
{
	struct hotspot_scene *scene = alloc_zero(1, sizeof(*scene));

	scene->names = AT_NAMES;
	put_exports(scene);
	put_table(scene, is_new);
	put_cache(scene);
	scene->pages = code_pages_new(hotspot_scene_read, scene);
	code_pages_tick(scene->pages, 1000000000);
	return scene;
}

static void hotspot_scene_free(struct hotspot_scene *scene)
{
	code_pages_free(scene->pages);
	free(scene);
}

static bool layout_is_read(struct hotspot_scene *scene)
{
	return hotspot_layout_read(scene->pages, PID, scene->exports, &scene->layout);
}

static bool code_is_found(struct hotspot_scene *scene, struct hotspot_code *ret)
{
	return hotspot_code_at(scene->pages, PID, &scene->layout, BASE + PC, false, ret);
}

TEST(hotspot_finds_the_size_of_a_frame)
{
	for (int is_new = 0; is_new < 2; is_new++) {
		struct hotspot_scene *scene = hotspot_scene_new(is_new);
		struct hotspot_code code;

		CHECK(layout_is_read(scene));
		CHECK(code_is_found(scene, &code));
		CHECK_EQ(code.frame_size, 48);
		CHECK_EQ(code.frame_from, BASE + CODE_BEGIN + 0x20);
		/* Before the block, after it, in its header, in no heap. */
		CHECK(!hotspot_code_at(scene->pages, PID, &scene->layout, BASE + BLOCK - 1, false, &code));
		CHECK(!hotspot_code_at(scene->pages, PID, &scene->layout, BASE + BLOCK + 100 * 128, false,
				       &code));
		CHECK(!hotspot_code_at(scene->pages, PID, &scene->layout, BASE + BLOCK + 8, false, &code));
		CHECK(!hotspot_code_at(scene->pages, PID, &scene->layout, BASE + AT_ARRAY, false, &code));
		CHECK(!hotspot_code_at(scene->pages, PID + 1, &scene->layout, BASE + PC, false, &code));
		hotspot_scene_free(scene);
	}
}

TEST(hotspot_code_that_never_completes_its_frame_has_no_frame_start)
{
	struct hotspot_scene *scene = hotspot_scene_new(true);
	struct hotspot_code code;

	put(scene, BLOB + COMPLETE_AT, 0xffff, 2);
	CHECK(layout_is_read(scene));
	CHECK(code_is_found(scene, &code));
	CHECK_EQ(code.frame_from, UINT64_MAX);
	hotspot_scene_free(scene);
}

TEST(hotspot_new_code_is_found_after_reading_again)
{
	struct hotspot_scene *scene = hotspot_scene_new(false);
	struct hotspot_code code;

	memset(scene->memory + AT_SEGMAP, 255, 128);
	CHECK(layout_is_read(scene));
	CHECK(!code_is_found(scene, &code));
	put_cache(scene);
	CHECK(!code_is_found(scene, &code));       /* the pages are cached */
	code_pages_tick(scene->pages, 1000001000); /* the next sample, in the same epoch */
	CHECK(hotspot_code_at(scene->pages, PID, &scene->layout, BASE + PC, true, &code));
	CHECK_EQ(code.frame_size, 48);
	CHECK(code_is_found(scene, &code));
	hotspot_scene_free(scene);
}

/* A change of the description that makes it useless. */
TEST(hotspot_invalid_table_is_refused)
{
	static const struct {
		size_t at;
		uint64_t value;
	} lies[] = {
		{ AT_EXPORTS, 0 },                                    /* null pointer */
		{ AT_EXPORTS, 0x10000 },                              /* not readable */
		{ AT_EXPORTS + 8 * HOTSPOT_STRIDE, 0 },               /* all entries at the same address */
		{ AT_EXPORTS + 8 * HOTSPOT_STRIDE, UINT64_MAX },      /* negative */
		{ AT_EXPORTS + 8 * HOTSPOT_TYPE_NAME, 1u << 20 },     /* outside the entry */
		{ AT_TABLE + STRIDE * 3, 0 },                         /* ends too early */
		{ AT_TABLE + STRIDE * 3 + 32, UINT64_MAX - 8 },       /* a field before its structure */
		{ AT_TABLE + STRIDE * 3 + 8, BASE + SIZE - 1 },       /* a name that does not end */
		{ AT_TABLE + STRIDE * 3, BASE + 2 * (uint64_t)SIZE }, /* a name that is not readable */
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hotspot_scene *scene = hotspot_scene_new(false);
		scene->memory[SIZE - 1] = 'x';
		put(scene, lies[i].at, lies[i].value, 8);
		CHECK(!layout_is_read(scene));
		hotspot_scene_free(scene);
	}
}

TEST(hotspot_invalid_code_cache_is_refused)
{
	static const struct {
		size_t at;
		uint64_t value;
		size_t size;
	} lies[] = {
		{ AT_STATIC, 0, 8 },
		{ AT_ARRAY + LEN, 0xffffffff, 4 },       /* -1 heaps */
		{ AT_ARRAY + DATA, BASE + SIZE - 4, 8 }, /* only half an address is readable */
		{ AT_HEAP + MEMORY + HIGH, BASE, 8 },    /* ends before it begins */
		{ AT_HEAP + LOG2, 0, 4 },
		{ AT_HEAP + LOG2, 64, 4 },
		{ AT_HEAP + LOG2, 0xffffffff, 4 },
		{ AT_HEAP + SEGMAP + HIGH, BASE + AT_SEGMAP, 8 }, /* an empty map */
		{ AT_HEAP + SEGMAP + LOW, UINT64_MAX - 8, 8 },
		{ AT_SEGMAP + 2, 255, 1 }, /* marks the segment as free */
		{ AT_SEGMAP + 2, 3, 1 },   /* leads before the heap */
		{ BLOCK, 0, 8 },           /* does not reach to pc */
		{ BLOCK, 40, 8 },
		{ BLOCK, UINT64_MAX, 8 },       /* longer than the heap */
		{ BLOCK + 8, 0, 1 },            /* not in use */
		{ BLOB + FRAME_SIZE_AT, 0, 4 }, /* as in the interpreter */
		{ BLOB + FRAME_SIZE_AT, 1, 4 },
		{ BLOB + FRAME_SIZE_AT, 0xffffffff, 4 },
		{ BLOB + FRAME_SIZE_AT, 0x7fffffff, 4 },
		{ BLOB + BEGIN_AT, 0, 8 },
		{ BLOB + BEGIN_AT, BASE + SIZE, 8 }, /* after pc */
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		struct hotspot_scene *scene = hotspot_scene_new(false);
		struct hotspot_code code;
		put(scene, lies[i].at, lies[i].value, lies[i].size);
		CHECK(layout_is_read(scene));
		CHECK(!code_is_found(scene, &code));
		hotspot_scene_free(scene);
	}
}

/* Whatever the bytes are, it ends, and its results are plausible. */
/* ---- methods that are being entered --------------------------------------------------------------- */

struct entry_code {
	const uint32_t *words;
	size_t n;
};

static struct bytes entry_code_at(void *context, uint64_t pc)
{
	const struct entry_code *code = context;
	size_t at = (pc - BASE) / 4;

	return at < code->n ? (struct bytes){ (const uint8_t *)(code->words + at), (code->n - at) * 4 }
			    : (struct bytes){ 0 };
}

static unsigned sender_at(const uint32_t *words, size_t n, size_t at)
{
	struct entry_code code = { words, n };

	return hotspot_entry_sender(&isa_aarch64, entry_code_at, &code, BASE + 4 * at);
}

TEST(hotspot_methods_that_allocate_locals_have_their_caller_s_sp_in_a_register)
{
	uint32_t words[] = {
		0x5400008d, /* 0 b.le 4 */
		0xf81f8d1f, /* 1 str xzr, [x8, #-8]! */
		0xd1000463, /* 2 sub x3, x3, #1 */
		0xb5ffffc3, /* 3 cbnz x3, 1 */
		0x927ced1f, /* 4 and sp, x8, #-16 */
		0xa9ba5bf4, /* 5 stp x20, x22, [sp, #-96]! */
		0xa9057bfd, /* 6 stp x29, x30, [sp, #80] */
		0x910143fd, /* 7 add x29, sp, #80 */
		0xa90437ff, /* 8 stp xzr, x13, [sp, #64] */
		0xd61f0100, /* 9 br x8 */
	};
	const size_t n = sizeof(words) / 4;

	CHECK_EQ(sender_at(words, n, 0), 13);
	CHECK_EQ(sender_at(words, n, 6), 13);
	CHECK_EQ(sender_at(words, n, 7), REG_NONE); /* the frame is complete */
	words[8] = 0xa9044fff;                      /* stp xzr, x19, [sp, #64] */
	CHECK_EQ(sender_at(words, n, 0), 19);
	words[5] = 0xf9400153; /* ldr x19, [x10]: overwritten */
	CHECK_EQ(sender_at(words, n, 0), REG_NONE);
	CHECK_EQ(sender_at(words, n, 6), 19);
	words[4] = 0xd63f0100; /* blr x8: overwrites the return address */
	CHECK_EQ(sender_at(words, n, 0), REG_NONE);
}

TEST(hotspot_adapters_that_have_not_moved_sp_have_their_caller_s)
{
	uint32_t words[] = {
		0xb9402988, /* 0 ldr w8, [x12, #40] */
		0xb4000048, /* 1 cbz x8, 3 */
		0xd61f0100, /* 2 br x8 */
		0x910003ed, /* 3 mov x13, sp */
		0xd10083ff, /* 4 sub sp, sp, #32 */
		0xd61f0100, /* 5 br x8 */
	};
	const size_t n = sizeof(words) / 4;

	CHECK_EQ(sender_at(words, n, 0), 31);
	CHECK_EQ(sender_at(words, n, 2), REG_NONE);
	words[0] = 0xd10083ff; /* sub sp, sp, #32 */
	CHECK_EQ(sender_at(words, n, 0), REG_NONE);
	CHECK_EQ(sender_at(words, n, 1), 31);
}

TEST(hotspot_survives_any_memory)
{
	uint64_t random = 88172645463325252u;

	for (unsigned round = 0; round < 400; round++) {
		struct hotspot_scene *scene = hotspot_scene_new(round % 2);
		struct hotspot_code code = { 0 };
		for (unsigned i = 0; i < 1 + round % 40; i++) {
			random ^= random << 13, random ^= random >> 7, random ^= random << 17;
			scene->memory[random % 0x4200] = (uint8_t)(random >> 40);
		}
		if (layout_is_read(scene) && code_is_found(scene, &code))
			CHECK(code.frame_size >= 16 && code.frame_size <= 8 * 65536);
		hotspot_scene_free(scene);
	}
}

/* ---- the same and stubs, x86-64 ------------------------------------------------------------------- */

static struct bytes stub_code_at(void *context, uint64_t pc)
{
	const struct bytes *code = context;

	return pc < BASE ? (struct bytes){ 0 } : bytes_from(*code, pc - BASE);
}

/* "none", "top" (of the stack), or the register that holds the return address. */
static const char *stub_at(const uint8_t *bytes, size_t n, size_t at)
{
	struct bytes code = { bytes, n };
	struct hotspot_stub stub;

	if (!hotspot_stub_find(&isa_x86_64, stub_code_at, &code, BASE + at, &stub))
		return "none";
	if (stub.ra == REG_NONE)
		return stub.sender == REG_NONE ? "top" : "top, with sp elsewhere";
	return isa_x86_64.reg_names[stub.ra];
}

TEST(hotspot_stubs_that_jump_to_a_method_have_the_return_address_on_top)
{
	uint8_t code[] = {
		0x48, 0x8b, 0x5b, 0x10, /* 0 mov 16(%rbx), %rbx */
		0x48, 0x85, 0xdb,       /* 4 test %rbx, %rbx */
		0x74, 0x03,             /* 7 je 12 */
		0xff, 0x63, 0x40,       /* 9 jmp *64(%rbx) */
		0xc3,                   /* 12 ret */
	};

	CHECK_STR(stub_at(code, sizeof(code), 0), "top");
	CHECK_STR(stub_at(code, sizeof(code), 9), "top");
	CHECK_STR(stub_at(code, sizeof(code), 12), "none");
	code[8] = 0xf7; /* je 0: each branch is followed once */
	CHECK_STR(stub_at(code, sizeof(code), 0), "top");
	code[0] = 0x53; /* push %rbx */
	code[1] = code[2] = code[3] = 0x90;
	CHECK_STR(stub_at(code, sizeof(code), 0), "none");
	/* The interpreter's table: jmp *(%r10,%rbx,8). A method returns: jmp *%r13; an adapter: mov, jmp
	 * *%r11. */
	CHECK_STR(stub_at((const uint8_t[]){ 0x41, 0xff, 0x24, 0xda }, 4, 0), "none");
	CHECK_STR(stub_at((const uint8_t[]){ 0x41, 0xff, 0xe4 }, 3, 0), "none");
	CHECK_STR(stub_at((const uint8_t[]){ 0x4c, 0x8b, 0x5b, 0x40, 0x41, 0xff, 0xe3 }, 7, 0), "top");
}

TEST(hotspot_methods_that_were_just_entered_have_the_return_address_on_top)
{
	uint8_t code[] = {
		0x8b, 0x52, 0x2a, /* 0 mov 42(%rdx), %edx */
		0x85, 0xd2,       /* 3 test %edx, %edx */
		0x77, 0x05,       /* 5 ja 12 */
		0x58,             /* 7 pop %rax */
		0x4c, 0x89, 0xec, /* 8 mov %r13, %rsp: the stack would overflow */
		0x50, 0x58,       /* 11 push %rax; 12 pop %rax */
		0x6a, 0x00,       /* 13 push $0 */
		0x50, 0x55,       /* 15 push %rax; push %rbp */
		0x48, 0x89, 0xe5, /* 17 mov %rsp, %rbp */
		0x41, 0x55,       /* 20 push %r13 */
	};

	CHECK_STR(stub_at(code, sizeof(code), 0), "top, with sp elsewhere");
	CHECK_STR(stub_at(code, sizeof(code), 12), "top, with sp elsewhere");
	CHECK_STR(stub_at(code, sizeof(code), 13), "rax");
	code[13] = 0xff, code[14] = 0xc0; /* inc %eax: changes what is pushed */
	CHECK_STR(stub_at(code, sizeof(code), 0), "none");
}

TEST(hotspot_adapters_that_align_sp_have_the_return_address_on_top)
{
	uint8_t code[] = {
		0x48, 0x8b, 0x04, 0x24, /* 0 mov (%rsp), %rax */
		0x49, 0x89, 0xe3,       /* 4 mov %rsp, %r11 */
		0x48, 0x83, 0xe4, 0xf0, /* 7 and $-16, %rsp */
		0x50,                   /* 11 push %rax */
		0x4c, 0x8b, 0x5b, 0x40, /* 12 mov 64(%rbx), %r11 */
		0x41, 0xff, 0xe3,       /* 16 jmp *%r11 */
	};

	CHECK_STR(stub_at(code, sizeof(code), 0), "top");
	CHECK_STR(stub_at(code, sizeof(code), 4), "none"); /* what is in rax cannot be seen any more */
	CHECK_STR(stub_at(code, sizeof(code), 12), "top");
	code[11] = 0x53; /* push %rbx: a frame */
	CHECK_STR(stub_at(code, sizeof(code), 0), "none");
}

TEST(hotspot_methods_that_allocate_locals_have_the_return_address_in_a_register)
{
	uint8_t code[] = {
		0x7e, 0x06,       /* 0 jle 8 */
		0x6a, 0x00,       /* 2 push $0 */
		0xff, 0xca,       /* 4 dec %edx */
		0x7f, 0xfa,       /* 6 jg 2 */
		0x50,             /* 8 push %rax */
		0x55,             /* 9 push %rbp */
		0x48, 0x89, 0xe5, /* 10 mov %rsp, %rbp */
		0x41, 0x55,       /* 13 push %r13 */
	};

	CHECK_STR(stub_at(code, sizeof(code), 0), "rax");
	CHECK_STR(stub_at(code, sizeof(code), 4), "rax");
	CHECK_STR(stub_at(code, sizeof(code), 8), "rax");
	CHECK_STR(stub_at(code, sizeof(code), 9), "none"); /* already pushed */
	code[5] = 0xc8;                                    /* dec %eax: changes what is pushed */
	CHECK_STR(stub_at(code, sizeof(code), 4), "none");
}

TEST(hotspot_method_exits_jump_to_the_return_address)
{
	uint8_t code[] = {
		0xc9,             /* 0 leave */
		0x41, 0x5d,       /* 1 pop %r13 */
		0x48, 0x89, 0xdc, /* 3 mov %rbx, %rsp */
		0x41, 0xff, 0xe5, /* 6 jmp *%r13 */
	};

	CHECK_STR(stub_at(code, sizeof(code), 0), "none"); /* the frame still exists */
	CHECK_STR(stub_at(code, sizeof(code), 1), "top, with sp elsewhere");
	CHECK_STR(stub_at(code, sizeof(code), 3), "r13");
	CHECK_STR(stub_at(code, sizeof(code), 6), "r13");
	code[2] = 0x5c; /* pop %r12: not the register of the jump */
	CHECK_STR(stub_at(code, sizeof(code), 1), "none");
}
