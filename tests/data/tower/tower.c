/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tower: the program of the recordings in this folder. No libc, so that the binary is small enough to
 * keep and every frame of its stacks lies in it. Deep recursion with large and small frames, calls
 * through pointers, a frame of variable size, saved registers; built without frame pointers.
 *
 * usage: tower [ROUNDS [WORK]]
 */
#define NOINLINE __attribute__((noinline))

static volatile unsigned long sink;
static unsigned long (*volatile top)(unsigned long);

static NOINLINE unsigned long spin(unsigned long n)
{
	unsigned long x = n;

	for (unsigned long i = 0; i < n; i++)
		x = x * 6364136223846793005ul + (sink ^ i);
	sink = x;
	return x;
}

static NOINLINE unsigned long wide(unsigned long n)
{
	volatile unsigned char room[300];

	for (unsigned i = 0; i < sizeof(room); i++)
		room[i] = (unsigned char)(n + i);
	unsigned long x = spin(n);
	return x + room[n % sizeof(room)];
}

static NOINLINE unsigned long elastic(unsigned long n)
{
	volatile unsigned char *room = __builtin_alloca(16 + n % 64);

	room[0] = (unsigned char)n;
	unsigned long x = top(n);
	return x + room[0];
}

static NOINLINE unsigned long climb(unsigned long depth, unsigned long n, unsigned long a, unsigned long b)
{
	if (depth == 0)
		return elastic(n);
	unsigned long x = climb(depth - 1, n, b, a + depth);
	__asm__ volatile("" : "+r"(x)); /* or the compiler makes a loop of it */
	return x * a + b + depth; /* a and b live across the call: in saved registers */
}

static unsigned long number(const char *text)
{
	unsigned long n = 0;

	for (; *text; text++)
		n = n * 10 + (unsigned long)(*text - '0');
	return n;
}

__attribute__((used)) int tower_main(int argc, char **argv)
{
	unsigned long rounds = argc > 1 ? number(argv[1]) : 10, work = argc > 2 ? number(argv[2]) : 4000;

	for (unsigned long i = 0; i < rounds; i++) {
		top = i % 2 ? spin : wide;
		sink += climb(i % 9, work + i % 50, i, i + 1);
	}
	return 0;
}

#if defined(__x86_64__)
__asm__(".globl _start\n.type _start, @function\n_start:\n"
	".cfi_startproc\n.cfi_undefined rip\n"
	"xor %ebp, %ebp\nmov (%rsp), %rdi\nlea 8(%rsp), %rsi\nand $-16, %rsp\ncall tower_main\n"
	"mov %eax, %edi\nmov $231, %eax\nsyscall\nhlt\n"
	".cfi_endproc\n.size _start, . - _start\n");
#elif defined(__aarch64__)
__asm__(".globl _start\n.type _start, %function\n_start:\n"
	".cfi_startproc\n.cfi_undefined x30\n"
	"mov x29, #0\nmov x30, #0\nldr x0, [sp]\nadd x1, sp, #8\nbl tower_main\n"
	"mov x8, #94\nsvc #0\nudf #0\n"
	".cfi_endproc\n.size _start, . - _start\n");
#endif
