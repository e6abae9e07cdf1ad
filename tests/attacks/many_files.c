/* SPDX-License-Identifier: Apache-2.0 */
/* many_files DIRECTORY N SECONDS: creates and maps N different executable files, then runs a busy loop. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096
#define NUMBER_AT (PAGE - (int)sizeof(int))

/* The first page of this program, as an ELF file without sections and without build-id. */
static int make_page(char *page)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr *header = (Elf64_Ehdr *)page;
	Elf64_Phdr *segments = (Elf64_Phdr *)(page + sizeof(*header));

	if (fd < 0 || read(fd, page, PAGE) != PAGE || header->e_phoff != sizeof(*header))
		return -1;
	close(fd);
	header->e_shoff = header->e_shnum = header->e_shstrndx = 0;
	for (int i = 0; i < header->e_phnum; i++)
		if (segments[i].p_type == PT_NOTE)
			segments[i].p_type = PT_NULL;
	return 0;
}

static int map_file(const char *directory, int number, char *page)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%d", directory, number);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);
	memcpy(page + NUMBER_AT, &number, sizeof(number));
	if (fd < 0 || write(fd, page, PAGE) != PAGE ||
	    mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	_Alignas(16) static char page[PAGE];
	volatile double x = 0;

	if (argc < 4 || make_page(page) < 0)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++)
		if (map_file(argv[1], i, page) < 0)
			return 3;
	for (clock_t end = clock() + (clock_t)(atof(argv[3]) * CLOCKS_PER_SEC); clock() < end;)
		for (int i = 0; i < 10000; i++)
			x = x * 1.0001 + 1;
	return 0;
}
