/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/returns.h"

#include <elf.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "collector/process/envoy.h"
#include "collector/process/target.h"

static const char *const unwinders[] = { "libgcc_s", "libstdc++", "libc++abi", "libunwind" };

/* The C library has exception tables, for the end of threads, but does not throw. */
bool returns_throw(const struct image *image)
{
	const struct section *names = image_section(image, ".dynstr");
	struct bytes needed = names ? image_bytes(image, names->vaddr) : (struct bytes){ 0 };

	if (names && needed.len > names->size)
		needed.len = names->size;
	for (size_t i = 0; i < ARRAY_LEN(unwinders); i++)
		if (needed.len && memmem(needed.at, needed.len, unwinders[i], strlen(unwinders[i])))
			return true;
	return image_section(image, ".gcc_except_table") && strncmp(image_name(image), "libc.", 5) != 0 &&
	       strncmp(image_name(image), "ld-", 3) != 0;
}

bool returns_meet_unwinder(pid_t pid)
{
	CLEANUP(freep) char *path = alloc_printf("/proc/%d/maps", (int)pid);
	CLEANUP(freep) char *maps = envoy_read_file(pid, path, NULL);

	for (size_t i = 0; i < ARRAY_LEN(unwinders); i++)
		if (maps && strstr(maps, unwinders[i]))
			return true;
	return false;
}

bool returns_of_go(const struct image *image)
{
	return image_section(image, ".gopclntab") || image_section(image, ".go.buildinfo");
}

/*
 * While returns are probed, an address of the kernel's is on the stack: an exception that meets it ends the
 * program, and so does Go, which moves stacks. On x86-64 some kernels leave a probed return by a system call,
 * for which a seccomp filter may kill the process.
 */
const char *returns_refused(pid_t pid, const struct image *image, bool may_throw)
{
	CLEANUP(freep) char *path = alloc_printf("/proc/%d/status", (int)pid);
	CLEANUP(freep) char *status = target_read_file(path, NULL);

	if (returns_of_go(image))
		return "a Go program crashes when its returns are probed";
	if (may_throw)
		return "a program that throws an exception crashes when its returns are probed";
	if (image->elf_machine == EM_X86_64 && status && strstr(status, "\nSeccomp:\t2"))
		return "a seccomp filter may kill the process when its returns are probed";
	return NULL;
}

/*
 * On x86-64 a probed return instruction costs ten times as much as a probed return address, because the
 * kernel cannot emulate it.
 */
bool returns_are_taken(enum call_exits exits, bool has_exits, unsigned elf_machine, bool may_return)
{
	switch (exits) {
	case CALL_EXITS_RETURN:
		return true;
	case CALL_EXITS_CODE:
		return false;
	case CALL_EXITS_AUTO:
		return may_return && (!has_exits || elf_machine == EM_X86_64);
	}
	return false;
}
