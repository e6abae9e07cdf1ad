/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What x86-64 instructions do, one line each: the encoding, the assembly it came from, and the
 * effects, flow, clobbers and reads it must have at vaddr 0x401000.
 */
#include <elf.h>
#include <stdlib.h>

#include "binary/isa/isa.h"
#include "tests/test.h"
#include "tests/unit/binary/show_insn.h"

#define VADDR 0x401000

static const struct {
	const char *hex, *assembly, *meaning;
} cases[] = {
	{ "53", "push %rbx", "push rbx; reads rbx rsp" },
	{ "4154", "push %r12", "push r12; reads rsp r12" },
	{ "ff742438", "pushq 0x38(%rsp)", "? = [rsp + 0x38]; push ?; reads rsp" },
	{ "41ff72f8", "pushq -8(%r10)", "? = [r10 - 0x8]; push ?; reads rsp r10" },
	{ "6aff", "push $-1", "push ?; reads rsp" },
	{ "6878563412", "push $0x12345678", "push ?; reads rsp" },
	{ "6650", "pushw %ax", "push rax:2; reads rax rsp" },
	{ "666a05", "pushw $5", "push ?:2; reads rsp" },
	{ "0fa0", "push %fs", "push ?; reads rsp" },
	{ "54", "push %rsp", "push rsp; reads rsp" },
	{ "9c", "pushf", "push ?; reads rsp" },
	{ "5d", "pop %rbp", "pop rbp; reads rsp" },
	{ "5c", "pop %rsp", "rsp = [rsp]; reads rsp" },
	{ "6658", "popw %ax", "rsp = rsp + 0x2; kills rax; reads rsp" },
	{ "8f442408", "popq 8(%rsp)", "rsp = rsp + 0x8; [rsp + 0x8] = ?; reads rsp" },
	{ "9d", "popf", "rsp = rsp + 0x8; reads rsp; flags" },
	{ "4c8d542408", "lea 8(%rsp),%r10", "r10 = rsp + 0x8; reads rsp" },
	{ "488d5488e0", "lea -0x20(%rax,%rcx,4),%rdx", "rdx = rax + rcx << 2 - 0x20; reads rax rcx" },
	{ "488d3d00100000", "lea 0x1000(%rip),%rdi", "rdi = 0x402007" },
	{ "8d4801", "lea 1(%rax),%ecx", "rcx = rax + 0x1:4; reads rax" },
	{ "678d1408", "lea (%eax,%ecx),%edx", "rdx = rax + rcx:4; reads rax rcx" },
	{ "488d36", "lea 0(%rsi),%rsi", "rsi = rsi; reads rsi; padding" },
	{ "4889e5", "mov %rsp,%rbp", "rbp = rsp; reads rsp" },
	{ "89c0", "mov %eax,%eax", "rax = rax:4; reads rax" },
	{ "6689c1", "mov %ax,%cx", "kills rcx; reads rax" },
	{ "88e1", "mov %ah,%cl", "kills rcx; reads rax" },
	{ "b8ffffffff", "mov $-1,%eax", "rax = 0xffffffff:4" },
	{ "48c7c0ffffffff", "mov $-1,%rax", "rax = -1" },
	{ "49b9f0debc9a78563412", "movabs $0x123456789abcdef0,%r9", "r9 = 0x123456789abcdef0" },
	{ "b005", "mov $5,%al", "kills rax" },
	{ "488b5c2408", "mov 8(%rsp),%rbx", "rbx = [rsp + 0x8]; reads rsp" },
	{ "8b0487", "mov (%rdi,%rax,4),%eax", "rax = [rdi + rax << 2]:4; reads rax rdi" },
	{ "8a07", "mov (%rdi),%al", "kills rax; reads rdi" },
	{ "488b0500200000", "mov 0x2000(%rip),%rax", "rax = [0x403007]" },
	{ "488b04c500104000", "mov 0x401000(,%rax,8),%rax", "rax = [rax << 3 + 0x401000]; reads rax" },
	{ "64488b042528000000", "mov %fs:0x28,%rax", "kills rax" },
	{ "64488b08", "mov %fs:(%rax),%rcx", "kills rcx; reads rax" },
	{ "48895df8", "mov %rbx,-8(%rbp)", "[rbp - 0x8] = rbx; reads rbx rbp" },
	{ "880c24", "mov %cl,(%rsp)", "[rsp] = rcx:1; reads rcx rsp" },
	{ "882c24", "mov %ch,(%rsp)", "[rsp] = ?:1; reads rcx rsp" },
	{ "c744240407000000", "movl $7,4(%rsp)", "[rsp + 0x4] = ?:4; reads rsp" },
	{ "644889042510000000", "mov %rax,%fs:0x10", "reads rax" },
	{ "678b08", "mov (%eax),%ecx", "kills rcx; reads rax" },
	{ "a08877665544332211", "movabs 0x1122334455667788,%al", "kills rax" },
	{ "8cd8", "mov %ds,%eax", "kills rax" },
	{ "480fc30424", "movnti %rax,(%rsp)", "[rsp] = rax; reads rax rsp" },
	{ "48630482", "movslq (%rdx,%rax,4),%rax", "rax = signed [rdx + rax << 2]:4; reads rax rdx" },
	{ "4863f7", "movslq %edi,%rsi", "rsi = s32 rdi; reads rdi" },
	{ "0fb607", "movzbl (%rdi),%eax", "rax = [rdi]:1; reads rdi" },
	{ "0fb6c8", "movzbl %al,%ecx", "rcx = u8 rax:4; reads rax" },
	{ "0fb6cc", "movzbl %ah,%ecx", "kills rcx; reads rax" },
	{ "0fb70442", "movzwl (%rdx,%rax,2),%eax", "rax = [rdx + rax << 1]:2; reads rax rdx" },
	{ "0fbe07", "movsbl (%rdi),%eax", "rax = signed [rdi]:1; rax = rax:4; reads rdi" },
	{ "480fbe07", "movsbq (%rdi),%rax", "rax = signed [rdi]:1; reads rdi" },
	{ "0fbfc0", "movswl %ax,%eax", "rax = s16 rax:4; reads rax" },
	{ "660fb607", "movzbw (%rdi),%ax", "kills rax; reads rdi" },
	{ "4883c408", "add $8,%rsp", "rsp = rsp + 0x8; reads rsp; flags" },
	{ "4881ec08010000", "sub $0x108,%rsp", "rsp = rsp - 0x108; reads rsp; flags" },
	{ "4883c480", "add $-128,%rsp", "rsp = rsp - 0x80; reads rsp; flags" },
	{ "83c005", "add $5,%eax", "rax = rax + 0x5:4; reads rax; flags" },
	{ "0405", "add $5,%al", "kills rax; reads rax; flags" },
	{ "4801d0", "add %rdx,%rax", "rax = rax + rdx; reads rax rdx; flags" },
	{ "4801cc", "add %rcx,%rsp", "rsp = rsp + rcx; reads rcx rsp; flags" },
	{ "480307", "add (%rdi),%rax", "kills rax; reads rax rdi; flags" },
	{ "8344240801", "add $1,8(%rsp)", "[rsp + 0x8] = ?:4; reads rsp; flags" },
	{ "488344240801", "addq $1,8(%rsp)", "[rsp + 0x8] = ?; reads rsp; flags" },
	{ "4829c4", "sub %rax,%rsp", "rsp = rsp - rax; reads rax rsp; flags" },
	{ "29c0", "sub %eax,%eax", "rax = 0:4; flags" },
	{ "64482b142528000000", "sub %fs:0x28,%rdx", "kills rdx; reads rdx; flags" },
	{ "ffc1", "inc %ecx", "rcx = rcx + 0x1:4; reads rcx; flags" },
	{ "48ffca", "dec %rdx", "rdx = rdx - 0x1; reads rdx; flags" },
	{ "ff0424", "incl (%rsp)", "[rsp] = ?:4; reads rsp; flags" },
	{ "4883e4e0", "and $-32,%rsp", "rsp = rsp & -0x20; reads rsp; flags" },
	{ "83e01f", "and $0x1f,%eax", "rax = rax & 0x1f:4; reads rax; flags" },
	{ "240f", "and $0x0f,%al", "kills rax; reads rax; flags" },
	{ "4821c8", "and %rcx,%rax", "kills rax; reads rax rcx; flags" },
	{ "83242401", "andl $1,(%rsp)", "[rsp] = ?:4; reads rsp; flags" },
	{ "31c0", "xor %eax,%eax", "rax = 0:4; flags" },
	{ "31c8", "xor %ecx,%eax", "kills rax; reads rax rcx; flags" },
	{ "4819c0", "sbb %rax,%rax", "kills rax; flags" },
	{ "83c8ff", "or $-1,%eax", "kills rax; reads rax; flags" },
	{ "48c1e003", "shl $3,%rax", "rax = rax << 3; reads rax; flags" },
	{ "48d1e0", "shl %rax", "rax = rax << 1; reads rax; flags" },
	{ "48d3e0", "shl %cl,%rax", "kills rax; reads rax rcx; flags" },
	{ "48c1e804", "shr $4,%rax", "kills rax; reads rax; flags" },
	{ "4894", "xchg %rax,%rsp", "rsp <-> rax; reads rax rsp" },
	{ "91", "xchg %eax,%ecx", "kills rax rcx; reads rax rcx" },
	{ "4887442408", "xchg %rax,8(%rsp)", "[rsp + 0x8] = rax; kills rax; reads rax rsp" },
	{ "c9", "leave", "rsp = rbp; pop rbp; reads rbp rsp" },
	{ "c8200000", "enter $0x20,$0", "push rbp; rbp = rsp; rsp = rsp - 0x20; reads rbp rsp" },
	{ "c8200001", "enter $0x20,$1", "kills rbp rsp; reads rbp rsp" },
	{ "e82f020000", "call .+0x234", "call 0x401234; reads rsp" },
	{ "e800000000", "call .+5", "call 0x401005; reads rsp" },
	{ "ffd0", "call *%rax", "call *rax; reads rax rsp" },
	{ "41ffd3", "call *%r11", "call *r11; reads rsp r11" },
	{ "ff5008", "call *8(%rax)", "? = [rax + 0x8]; call *?; reads rax rsp" },
	{ "ff1500100000", "call *0x1000(%rip)", "? = [0x402006]; call *? slot 0x402006; reads rsp" },
	{ "41ff14dc", "call *(%r12,%rbx,8)", "? = [r12 + rbx << 3]; call *?; reads rbx rsp r12" },
	{ "64ff142510000000", "call *%fs:0x10", "call *?; reads rsp" },
	{ "e92f020000", "jmp .+0x234", "jump 0x401234" },
	{ "eb0e", "jmp .+0x10", "jump 0x401010" },
	{ "ffe0", "jmp *%rax", "jump *rax; reads rax" },
	{ "ff24c500004c00", "jmp *0x4c0000(,%rax,8)", "? = [rax << 3 + 0x4c0000]; jump *?; reads rax" },
	{ "ff24ca", "jmp *(%rdx,%rcx,8)", "? = [rdx + rcx << 3]; jump *?; reads rdx rcx" },
	{ "ff25e22f0000", "jmp *0x2fe2(%rip)", "? = [0x403fe8]; jump *? slot 0x403fe8" },
	{ "3effe0", "notrack jmp *%rax", "jump *rax; reads rax" },
	{ "f2ff25e22f0000", "bnd jmp *0x2fe2(%rip)", "? = [0x403fe9]; jump *? slot 0x403fe9" },
	{ "ff28", "ljmp *(%rax)", "stop" },
	{ "ff18", "lcall *(%rax)", "call *?; reads rax rsp" },
	{ "c3", "ret", "return; reads rsp" },
	{ "c21000", "ret $16", "return; reads rsp" },
	{ "f3c3", "repz ret", "return; reads rsp" },
	{ "cb", "lret", "stop" },
	{ "48cf", "iretq", "stop; flags" },
	{ "741e", "je .+0x20", "branch == 0x401020" },
	{ "751e", "jne .+0x20", "branch != 0x401020" },
	{ "0f87fa010000", "ja .+0x200", "branch > 0x401200" },
	{ "731e", "jae .+0x20", "branch >= 0x401020" },
	{ "721e", "jb .+0x20", "branch < 0x401020" },
	{ "761e", "jbe .+0x20", "branch <= 0x401020" },
	{ "7f1e", "jg .+0x20", "branch other 0x401020" },
	{ "781e", "js .+0x20", "branch other 0x401020" },
	{ "e31e", "jrcxz .+0x20", "branch other 0x401020; reads rcx" },
	{ "e2ee", "loop .-0x10", "rcx = rcx - 0x1; branch other 0x400ff0; reads rcx" },
	{ "c7f81a000000", "xbegin .+0x20", "branch other 0x401020; kills rax; reads rax" },
	{ "3cfa", "cmp $0xfa,%al", "compare rax 0xfa:1; reads rax; flags" },
	{ "83f8ff", "cmp $-1,%eax", "compare rax 0xffffffff:4; reads rax; flags" },
	{ "4883ff05", "cmp $5,%rdi", "compare rdi 5; reads rdi; flags" },
	{ "4c39dc", "cmp %r11,%rsp", "compare rsp r11; reads rsp r11; flags" },
	{ "837c24080a", "cmpl $10,8(%rsp)", "? = [rsp + 0x8]:4; compare ? 0xa:4; reads rsp; flags" },
	{ "3907", "cmp %eax,(%rdi)", "? = [rdi]:4; compare ? rax:4; reads rax rdi; flags" },
	{ "3b07", "cmp (%rdi),%eax", "reads rax rdi; flags" },
	{ "80fc05", "cmp $5,%ah", "reads rax; flags" },
	{ "6448833c251000000000", "cmpq $0,%fs:0x10", "flags" },
	{ "84c0", "test %al,%al", "compare rax 0:1; reads rax; flags" },
	{ "4885ff", "test %rdi,%rdi", "compare rdi 0; reads rdi; flags" },
	{ "a801", "test $1,%al", "reads rax; flags" },
	{ "85c1", "test %eax,%ecx", "reads rax rcx; flags" },
	{ "480f44c2", "cmove %rdx,%rax", "kills rax; reads rax rdx" },
	{ "0f94c0", "sete %al", "kills rax" },
	{ "0f940424", "sete (%rsp)", "[rsp] = ?:1; reads rsp" },
	{ "48ab", "stosq", "[rdi] = ?; kills rdi; reads rax rdi" },
	{ "f348ab", "rep stosq", "[rdi] = ?; kills rcx rdi; reads rax rcx rdi" },
	{ "f3a4", "rep movsb", "[rdi] = ?:1; kills rcx rsi rdi; reads rcx rsi rdi" },
	{ "a5", "movsl", "[rdi] = ?:4; kills rsi rdi; reads rsi rdi" },
	{ "ac", "lodsb", "kills rax rsi; reads rsi" },
	{ "f2ae", "repne scasb", "kills rcx rdi; reads rax rcx rdi; flags" },
	{ "a6", "cmpsb", "kills rsi rdi; reads rsi rdi; flags" },
	{ "48f7e1", "mul %rcx", "kills rax rdx; reads rax rcx; flags" },
	{ "480fafc2", "imul %rdx,%rax", "kills rax; reads rax rdx; flags" },
	{ "486bc203", "imul $3,%rdx,%rax", "kills rax; reads rdx; flags" },
	{ "c4e2e3f6c8", "mulx %rax,%rbx,%rcx", "kills rcx rbx; reads rax rdx" },
	{ "48f7f1", "div %rcx", "kills rax rdx; reads rax rdx rcx; flags" },
	{ "4899", "cqto", "kills rdx; reads rax" },
	{ "4898", "cltq", "rax = s32 rax; reads rax" },
	{ "0fa2", "cpuid", "kills rax rdx rcx rbx; reads rax rcx" },
	{ "0f31", "rdtsc", "kills rax rdx" },
	{ "480fb10f", "cmpxchg %rcx,(%rdi)", "[rdi] = ?; kills rax; reads rax rcx rdi; flags" },
	{ "f0480fc70f", "lock cmpxchg16b (%rdi)",
	  "[rdi] = ?:16; kills rax rdx; reads rax rdx rcx rbx rdi; flags" },
	{ "480fc100", "xadd %rax,(%rax)", "[rax] = ?; kills rax; reads rax; flags" },
	{ "0f05", "syscall", "kills rax rcx r11; flags; syscall" },
	{ "cd80", "int $0x80", "kills rax r8 r9 r10 r11; syscall" },
	{ "cc", "int3", "stop; padding" },
	{ "0f0b", "ud2", "stop" },
	{ "f4", "hlt", "stop" },
	{ "90", "nop", "padding" },
	{ "6690", "xchg %ax,%ax", "padding" },
	{ "0f1f00", "nopl 0(%rax)", "padding" },
	{ "2e660f1f0400", "nopw %cs:0(%rax,%rax,1)", "padding" },
	{ "f390", "pause", "-" },
	{ "f30f1efa", "endbr64", "entry" },
	{ "0f29442410", "movaps %xmm0,0x10(%rsp)", "[rsp + 0x10] = ?:16; reads rsp" },
	{ "c5fe7f45c0", "vmovdqu %ymm0,-0x40(%rbp)", "[rbp - 0x40] = ?:32; reads rbp" },
	{ "62f1fe487f4c2401", "vmovdqu64 %zmm1,0x40(%rsp)", "[rsp + 0x40] = ?:64; reads rsp" },
	{ "62f17f497f4c2401", "vmovdqu8 %zmm1,0x40(%rsp){%k1}", "[rsp + 0x40] = ?:64; reads rsp" },
	{ "f20f11442408", "movsd %xmm0,8(%rsp)", "[rsp + 0x8] = ?; reads rsp" },
	{ "0f28442410", "movaps 0x10(%rsp),%xmm0", "reads rsp" },
	{ "66480f7ec0", "movq %xmm0,%rax", "kills rax" },
	{ "66480f6ec0", "movq %rax,%xmm0", "reads rax" },
	{ "db3c24", "fstpt (%rsp)", "[rsp] = ?:10; reads rsp" },
	{ "d93424", "fnstenv (%rsp)", "[rsp] = ?:28; reads rsp" },
	{ "0fae0424", "fxsave (%rsp)", "[rsp] = ?:255; reads rsp" },
	{ "0fc7642440", "xsavec 0x40(%rsp)", "[rsp + 0x40] = ?:255; reads rax rdx rsp" },
	{ "62f27d49a00c90", "vpscatterdd %zmm1,(%rax,%zmm2,4){%k1}", "reads rax" },
	{ "660ff7c1", "maskmovdqu %xmm1,%xmm0", "[rdi] = ?:16; reads rdi" },
	{ "0fc8", "bswap %eax", "kills rax; reads rax" },
	{ "480f38f10424", "movbe %rax,(%rsp)", "[rsp] = ?; reads rax rsp" },
	{ "0f92c3", "setc %bl", "kills rbx" },
	{ "480fbcc7", "bsf %rdi,%rax", "kills rax; reads rax rdi; flags" },
	{ "c5f877", "vzeroupper", "-" },
	{ "0f1808", "prefetcht0 (%rax)", "reads rax" },
	{ "0faef0", "mfence", "-" },
	{ "f3480faec0", "rdfsbase %rax", "kills rax" },
	{ "0f01d0", "xgetbv", "kills rax rdx; reads rcx" },
	{ "f3480f1ec8", "rdsspq %rax", "kills rax" },
	{ "666648e82c020000", "data16 data16 rex.W call .+0x234", "call 0x401234; reads rsp" },
};

static struct bytes from_hex(const char *hex, uint8_t *buffer)
{
	size_t n = strlen(hex) / 2;

	for (size_t i = 0; i < n; i++) {
		char digits[3] = { hex[2 * i], hex[2 * i + 1], '\0' };

		buffer[i] = (uint8_t)strtoul(digits, NULL, 16);
	}
	return (struct bytes){ buffer, n };
}

TEST(x86_64_instructions_mean_what_the_table_says)
{
	unsigned n_wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint8_t buffer[16];
		struct bytes code = from_hex(cases[i].hex, buffer);
		struct insn insn;
		struct line line;

		CHECK_EQ(isa_x86_64.decode(code, VADDR, &insn), 0);
		CHECK_EQ(insn.len, code.len);

		const char *meaning = show_insn(&line, &isa_x86_64, &insn);

		if (strcmp(meaning, cases[i].meaning) != 0) {
			print_error("%s (%s):\n  %s\nnot\n  %s\n", cases[i].assembly, cases[i].hex, meaning,
				    cases[i].meaning);
			n_wrong++;
		}
	}
	CHECK_EQ(n_wrong, 0);
}

TEST(x86_64_refuses_truncated_and_invalid_instructions)
{
	static const char *const bad[] = { "",   "48", "e8",   "e80000", "0f",
					   "06", "c5", "62f1", "ff",     "f0f0f0f0f0f0f0f0f0f0f0f0f0f0f090" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		uint8_t buffer[32];
		struct insn insn;

		CHECK(isa_x86_64.decode(from_hex(bad[i], buffer), VADDR, &insn) < 0);
	}
}

TEST(x86_64_recommended_nops_of_every_length_are_padding)
{
	static const char *const nops[] = { "90",
					    "6690",
					    "0f1f00",
					    "0f1f4000",
					    "0f1f440000",
					    "660f1f440000",
					    "0f1f8000000000",
					    "0f1f840000000000",
					    "660f1f840000000000",
					    "662e0f1f840000000000",
					    "66662e0f1f840000000000",
					    "6666666666662e0f1f840000000000" };

	for (size_t i = 0; i < ARRAY_LEN(nops); i++) {
		uint8_t buffer[16];
		struct bytes code = from_hex(nops[i], buffer);
		struct insn insn;

		CHECK_EQ(isa_x86_64.decode(code, VADDR, &insn), 0);
		CHECK_EQ(insn.len, code.len);
		CHECK(insn.is_padding);
		CHECK_EQ(insn.n_effects, 0);
		CHECK_EQ(insn.reads | insn.clobbers, 0);
	}
}

/* pc is VADDR; the bytes are right before it. */
static bool ends_in_call(const char *hex, struct insn *ret)
{
	uint8_t buffer[32];

	return isa_x86_64.ends_in_call(from_hex(hex, buffer), VADDR, ret);
}

TEST(x86_64_ends_in_call_recognises_every_form_of_call)
{
	static const char *const calls[] = { "e82f020000",
					     "ffd0",
					     "41ffd3",
					     "ff10",
					     "ff5008",
					     "ff9000010000",
					     "ff1500100000",
					     "ff14c7",
					     "41ff14dc",
					     "ff5424f8",
					     "ff942400010000",
					     "41ff942400010000",
					     "43ff94e000010000",
					     "64ff142510000000",
					     "6443ff94e000010000",
					     "3effd0",
					     "f2ff1500100000",
					     "f2e82f020000",
					     "666648e82c020000",
					     "6648ff1500100000",
					     "67e82f020000" };

	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		char hex[64];
		struct insn insn;

		snprintf(hex, sizeof hex, "4889e5%s", calls[i]);
		CHECK(ends_in_call(hex, &insn));
		CHECK(insn.flow == FLOW_CALL || insn.flow == FLOW_CALL_INDIRECT);
		CHECK(ends_in_call(calls[i], NULL));
	}
}

TEST(x86_64_ends_in_call_gives_the_target_of_a_direct_call)
{
	struct insn insn;

	CHECK(ends_in_call("e82f020000", &insn));
	CHECK_EQ(insn.flow, FLOW_CALL);
	CHECK_EQ(insn.target, VADDR + 0x22f);
}

TEST(x86_64_ends_in_call_refuses_other_code)
{
	static const char *const others[] = { "",         "90",     "d0",         "4889e5",
					      "c3",       "ffe0",   "e92f020000", "0f1f440000",
					      "ff742438", "ff0424", "4883c408",   "ff1f" };
	struct insn insn;

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		CHECK(!ends_in_call(others[i], &insn));
}

TEST(x86_64_ends_in_call_prefers_the_likely_call)
{
	struct insn insn;

	/* mov $..,%eax with e8 by chance inside; call *%rax: as a direct call it would go 788 MB back */
	CHECK(ends_in_call("b800e80000ffd0", &insn));
	CHECK_EQ(insn.flow, FLOW_CALL_INDIRECT);
	/* a direct call forward whose distance looks like call *0(%rax) */
	CHECK(ends_in_call("e812ff5000", &insn));
	CHECK_EQ(insn.flow, FLOW_CALL);
	/* call *%r15 and not the call *%rdi it ends in */
	CHECK(ends_in_call("4889f741ffd7", &insn));
	CHECK_EQ(insn.through, 15);
	CHECK(ends_in_call("4889f7ffd7", &insn));
	CHECK_EQ(insn.through, 5);
}

TEST(x86_64_signal_trampoline_is_recognised_by_its_bytes)
{
	uint8_t buffer[16];

	CHECK(isa_x86_64.is_signal_trampoline(from_hex("48c7c00f0000000f05", buffer)));
	CHECK(isa_x86_64.is_signal_trampoline(from_hex("b80f0000000f05cc", buffer)));
	CHECK(!isa_x86_64.is_signal_trampoline(from_hex("48c7c00e0000000f05", buffer)));
	CHECK(!isa_x86_64.is_signal_trampoline(from_hex("48c7c00f000000", buffer)));
	CHECK(!isa_x86_64.is_signal_trampoline((struct bytes){ NULL, 0 }));
}

TEST(x86_64_format_gives_one_line_and_respects_the_size)
{
	uint8_t buffer[16];
	struct bytes code = from_hex("48895df8", buffer);
	char text[64] = "x", small[4] = "abc";

	CHECK(isa_x86_64.format(code, VADDR, text, sizeof text) > 0);
	CHECK(strstr(text, "mov") && strstr(text, "rbx") && strstr(text, "rbp"));
	CHECK(!strchr(text, '\n'));
	CHECK(isa_x86_64.format(code, VADDR, small, sizeof small) < sizeof small);
	CHECK(memchr(small, '\0', sizeof small) != NULL);
	CHECK_EQ(isa_x86_64.format((struct bytes){ NULL, 0 }, VADDR, text, sizeof text), 0);
}

TEST(isa_for_machine_knows_its_machines)
{
	CHECK(isa_for_machine(EM_X86_64) == &isa_x86_64);
	CHECK(isa_for_machine(EM_386) == NULL);
	CHECK_EQ(isa_x86_64.strip_pc(0x7fff12345678), 0x7fff12345678);
}

TEST(x86_64_a_call_inside_the_code_is_seen_without_decoding)
{
	const struct {
		uint8_t code[8];
		bool is_inside;
	} codes[] = {
		{ { 0xe8, 2, 0, 0, 0, 0x90, 0x90, 0x90 }, true },              /* the last byte */
		{ { 0xe8, 3, 0, 0, 0, 0x90, 0x90, 0x90 }, false },             /* just behind */
		{ { 0xe8, 0, 0, 0, 0, 0x90, 0x90, 0x90 }, false },             /* the next instruction */
		{ { 0x90, 0xe8, 0xfa, 0xff, 0xff, 0xff, 0x90, 0x90 }, false }, /* the first one */
		{ { 0x90, 0xe8, 0xf9, 0xff, 0xff, 0xff, 0x90, 0x90 }, false }, /* just before */
		{ { 0x90, 0x90, 0xe8, 0xfa, 0xff, 0xff, 0xff, 0x90 }, true },
		{ { 0x90, 0x90, 0x90, 0xe8, 0xfe, 0xff, 0xff, 0xff }, true },  /* ends where the code does */
		{ { 0xe8, 0xe8, 0xfb, 0xff, 0xff, 0xff, 0x90, 0x90 }, true },  /* starts in the operand */
		{ { 0x90, 0x90, 0x90, 0x90, 0xe8, 0xfe, 0xff, 0xff }, false }, /* cut off */
	};

	for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
		struct bytes code = { codes[i].code, 8 };
		CHECK_EQ(isa_x86_64.may_call_inside(code), codes[i].is_inside);
	}
	CHECK(!isa_x86_64.may_call_inside((struct bytes){ codes[0].code, 4 }));
	CHECK(!isa_x86_64.may_call_inside((struct bytes){ NULL, 0 }));
}
