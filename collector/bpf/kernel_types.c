/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/kernel_types.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"
#define BTF_SIZE_MAX (64 << 20)
#define KIND_DECL_TAG 17 /* Linux 5.16 and 6.0: older headers do not have them */
#define KIND_ENUM64 19
#define KIND_MAX 19

/* Bytes behind the head of a type, by kind: once, and for each of its parts. */
static const struct {
	uint8_t once, each;
} kinds[KIND_MAX + 1] = {
	[BTF_KIND_INT] = { 4, 0 },    [BTF_KIND_ARRAY] = { 12, 0 },   [BTF_KIND_STRUCT] = { 0, 12 },
	[BTF_KIND_UNION] = { 0, 12 }, [BTF_KIND_ENUM] = { 0, 8 },     [BTF_KIND_FUNC_PROTO] = { 0, 8 },
	[BTF_KIND_VAR] = { 4, 0 },    [BTF_KIND_DATASEC] = { 0, 12 }, [KIND_DECL_TAG] = { 4, 0 },
	[KIND_ENUM64] = { 0, 12 },
};

static bool kernel_text_is(struct bytes strings, uint32_t offset, const char *text)
{
	size_t len = strlen(text) + 1;

	return offset < strings.len && strings.len - offset >= len &&
	       memcmp(strings.at + offset, text, len) == 0;
}

static void kernel_look_at_struct(struct bytes strings, const struct btf_type *type, struct bytes parts,
				  struct kernel_member *members, size_t n)
{
	bool has_bits = type->info >> 31;

	for (size_t i = 0; i < n; i++) {
		if (!kernel_text_is(strings, type->name_off, members[i].structure))
			continue;
		for (size_t at = 0; at + sizeof(struct btf_member) <= parts.len;
		     at += sizeof(struct btf_member)) {
			struct btf_member member;
			memcpy(&member, parts.at + at, sizeof(member));
			if (!kernel_text_is(strings, member.name_off, members[i].name))
				continue;
			members[i].offset = (has_bits ? member.offset & 0xffffff : member.offset) / 8;
			members[i].is_found = true;
		}
	}
}

static bool kernel_has_all(const struct kernel_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!members[i].is_found)
			return false;
	return true;
}

bool kernel_types_search(struct bytes btf, struct kernel_member *members, size_t n)
{
	struct btf_header header;
	struct btf_type type;

	if (btf.len < sizeof(header))
		return false;
	memcpy(&header, btf.at, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len > btf.len)
		return false;
	struct bytes rest = bytes_from(btf, header.hdr_len);
	if (header.type_off > rest.len || header.type_len > rest.len - header.type_off ||
	    header.str_off > rest.len || header.str_len > rest.len - header.str_off)
		return false;
	struct bytes types = { rest.at + header.type_off, header.type_len };
	struct bytes strings = { rest.at + header.str_off, header.str_len };
	for (size_t at = 0; at + sizeof(type) <= types.len;) {
		memcpy(&type, types.at + at, sizeof(type));
		at += sizeof(type);
		unsigned kind = BTF_INFO_KIND(type.info);
		if (kind > KIND_MAX)
			break;
		size_t len = kinds[kind].once + (size_t)BTF_INFO_VLEN(type.info) * kinds[kind].each;
		if (len > types.len - at)
			break;
		if (kind == BTF_KIND_STRUCT)
			kernel_look_at_struct(strings, &type, (struct bytes){ types.at + at, len }, members,
					      n);
		at += len;
	}
	return kernel_has_all(members, n);
}

bool kernel_types_find(struct kernel_member *members, size_t n)
{
	CLEANUP(close_fd) int fd = open(BTF_FILE, O_RDONLY | O_CLOEXEC);
	struct stat file;
	size_t len = 0;
	ssize_t got;

	if (fd < 0 || fstat(fd, &file) < 0 || file.st_size <= 0 || file.st_size > BTF_SIZE_MAX)
		return false;
	CLEANUP(freep) uint8_t *btf = alloc_resize(NULL, (size_t)file.st_size, 1);
	while (len < (size_t)file.st_size && (got = read(fd, btf + len, (size_t)file.st_size - len)) > 0)
		len += (size_t)got;
	return kernel_types_search((struct bytes){ btf, len }, members, n);
}
