/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jit: the program of the recordings in this folder. It makes code while it runs: a function without frame
 * pointer or unwind table, which calls back into the program; a new copy of it at another place each round. No
 * libc, as in ../tower. On AArch64 two processes do so; under the x86-64 stepper there is one.
 *
 * usage: jit [ROUNDS [WORK]]
 */
#define NOINLINE __attribute__((noinline))
#define SIZE 65536ul
#define STRIDE 4160ul

static volatile unsigned long sink;

#if defined(__aarch64__)
enum { SYS_NANOSLEEP = 101, SYS_CLONE = 220, SYS_MMAP = 222 };
/* sub sp, sp, #48; str x30, [sp, #24]; blr x1; ldr x30, [sp, #24]; add sp, sp, #48; ret */
static const unsigned code[] = { 0xd100c3ff, 0xf9000ffe, 0xd63f0020, 0xf9400ffe, 0x9100c3ff, 0xd65f03c0 };

static long call(long number, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = 0;

	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}

static void publish(char *at, unsigned long len)
{
	for (char *line = at; line < at + len; line += 4)
		__asm__ volatile("dc cvau, %0\n dsb ish\n ic ivau, %0\n dsb ish\n isb" : : "r"(line) : "memory");
}

static int split(void)
{
	return call(SYS_CLONE, 17 /* SIGCHLD */, 0, 0, 0, 0) == 0;
}
#else
enum { SYS_MMAP = 9, SYS_NANOSLEEP = 35 };
/* sub $0x28, %rsp; call *%rsi; add $0x28, %rsp; ret */
static const unsigned char code[] = { 0x48, 0x83, 0xec, 0x28, 0xff, 0xd6, 0x48, 0x83, 0xc4, 0x28, 0xc3 };

static long call(long number, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

static void publish(char *at, unsigned long len)
{
	(void)at;
	(void)len;
}

static int split(void)
{
	return 0;
}
#endif

static NOINLINE void spin(unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		sink = sink * 6364136223846793005ul + i;
}

static NOINLINE void work(unsigned long n)
{
	spin(n);
	sink++;
}

static NOINLINE void round_at(char *at, unsigned long n)
{
	const char *from = (const char *)code;

	for (unsigned long i = 0; i < sizeof(code); i++)
		((volatile char *)at)[i] = from[i];
	publish(at, sizeof(code));
	for (int i = 0; i < 8; i++)
		((void (*)(unsigned long, void (*)(unsigned long)))(void *)at)(n, work);
}

static unsigned long number(const char *text)
{
	unsigned long n = 0;

	for (; *text; text++)
		n = n * 10 + (unsigned long)(*text - '0');
	return n;
}

__attribute__((used)) int jit_main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? number(argv[1]) : 10, n = argc > 2 ? number(argv[2]) : 4000;
	const long pause[2] = { 0, 400000000 };
	/* Readable, writable, executable; private and of no file. */
	char *memory = (char *)call(SYS_MMAP, 0, (long)SIZE, 7, 0x22, -1);

	split();
	for (unsigned long i = 0, at = 64; i < rounds; i++, at = (at + STRIDE) % (SIZE - 128) & ~63ul)
		round_at(memory + at, n);
	call(SYS_NANOSLEEP, (long)pause, 0, 0, 0, 0); /* live, code is read from a process that is still there */
	return 0;
}

#if defined(__x86_64__)
__asm__(".globl _start\n.type _start, @function\n_start:\n"
	".cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\nmov (%rsp), %rdi\nlea 8(%rsp), %rsi\nand $-16, %rsp\ncall jit_main\n"
	"mov %eax, %edi\nmov $231, %eax\nsyscall\nhlt\n"
	".cfi_endproc\n.size _start, . - _start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n.type _start, %function\n_start:\n"
	".cfi_startproc\n.cfi_undefined x30\n"
	"mov x29, #0\nmov x30, #0\nldr x0, [sp]\nadd x1, sp, #8\nbl jit_main\n"
	"mov x8, #94\nsvc #0\nudf #0\n"
	".cfi_endproc\n.size _start, . - _start\n");
#endif
