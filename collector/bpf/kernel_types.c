/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/bpf/kernel_types.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/vec.h"

#define BTF_FILE "/sys/kernel/btf/vmlinux"
#define BTF_SIZE_MAX (64 << 20)
#define KIND_DECL_TAG 17 /* Linux 5.16 and 6.0: older headers do not have them */
#define KIND_ENUM64 19
#define KIND_MAX 19
#define DEPTH_MAX 4 /* of members without a name in each other; there may be circles */

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
	/* Nearly all differ in the first character: there are a hundred thousand types. */
	if (offset >= strings.len || strings.at[offset] != (uint8_t)*text)
		return false;
	size_t len = strlen(text) + 1;
	return strings.len - offset >= len && memcmp(strings.at + offset, text, len) == 0;
}

/* Type information, taken apart. */
struct kernel_btf {
	struct bytes types, strings;
	VEC(uint32_t) at;     /* where in types each of them is, by its number less 1 */
	VEC(uint32_t) wanted; /* where the structures are whose members are searched for */
};

/* A type, and the parts that follow it. */
struct kernel_type {
	struct btf_type head;
	struct bytes parts;
};

/* False: it is cut off, or of a kind that is not known. */
static bool kernel_read_type(struct bytes types, size_t at, struct kernel_type *ret)
{
	if (at > types.len || types.len - at < sizeof(ret->head))
		return false;
	memcpy(&ret->head, types.at + at, sizeof(ret->head));
	unsigned kind = BTF_INFO_KIND(ret->head.info);
	if (kind > KIND_MAX)
		return false;
	at += sizeof(ret->head);
	size_t len = kinds[kind].once + (size_t)BTF_INFO_VLEN(ret->head.info) * kinds[kind].each;
	ret->parts = (struct bytes){ types.at + at, len };
	return len <= types.len - at;
}

/* Members of a member without a name are its own, too. */
static void kernel_look_for(const struct kernel_btf *btf, const struct kernel_type *type, uint32_t base,
			    unsigned depth, struct kernel_member *ret)
{
	struct kernel_type inner;
	struct btf_member member;
	bool has_bits = type->head.info >> 31;

	for (size_t at = 0; at + sizeof(member) <= type->parts.len; at += sizeof(member)) {
		memcpy(&member, type->parts.at + at, sizeof(member));
		uint32_t offset = base + (has_bits ? member.offset & 0xffffff : member.offset) / 8;
		if (kernel_text_is(btf->strings, member.name_off, ret->name)) {
			ret->offset = offset;
			ret->is_found = true;
		} else if (depth < DEPTH_MAX && kernel_text_is(btf->strings, member.name_off, "") &&
			   member.type - 1 < btf->at.n &&
			   kernel_read_type(btf->types, btf->at.at[member.type - 1], &inner) &&
			   (BTF_INFO_KIND(inner.head.info) == BTF_KIND_STRUCT ||
			    BTF_INFO_KIND(inner.head.info) == BTF_KIND_UNION)) {
			kernel_look_for(btf, &inner, offset, depth + 1, ret);
		}
	}
}

static void kernel_look_in_section(const struct kernel_btf *btf, const struct kernel_type *section,
				   struct kernel_member *ret)
{
	struct kernel_type variable;
	struct btf_var_secinfo place;

	for (size_t at = 0; at + sizeof(place) <= section->parts.len; at += sizeof(place)) {
		memcpy(&place, section->parts.at + at, sizeof(place));
		if (place.type - 1 >= btf->at.n ||
		    !kernel_read_type(btf->types, btf->at.at[place.type - 1], &variable) ||
		    !kernel_text_is(btf->strings, variable.head.name_off, ret->name))
			continue;
		ret->offset = place.offset;
		ret->is_found = true;
	}
}

static bool kernel_is_wanted(const struct kernel_btf *btf, const struct kernel_type *type,
			     const struct kernel_member *members, size_t n)
{
	unsigned kind = BTF_INFO_KIND(type->head.info);

	for (size_t i = 0; (kind == BTF_KIND_STRUCT || kind == BTF_KIND_DATASEC) && i < n; i++)
		if (kernel_text_is(btf->strings, type->head.name_off, members[i].structure))
			return true;
	return false;
}

static void kernel_look_at_wanted(const struct kernel_btf *btf, struct kernel_member *members, size_t n)
{
	struct kernel_type type;

	for (size_t i = 0; i < btf->wanted.n; i++)
		for (size_t k = 0; kernel_read_type(btf->types, btf->wanted.at[i], &type) && k < n; k++) {
			if (!kernel_text_is(btf->strings, type.head.name_off, members[k].structure))
				continue;
			if (BTF_INFO_KIND(type.head.info) == BTF_KIND_DATASEC)
				kernel_look_in_section(btf, &type, &members[k]);
			else
				kernel_look_for(btf, &type, 0, 0, &members[k]);
		}
}

static bool kernel_has_all(const struct kernel_member *members, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!members[i].is_found)
			return false;
	return true;
}

bool kernel_types_search(struct bytes from, struct kernel_member *members, size_t n)
{
	struct btf_header header;
	struct kernel_btf btf = { 0 };
	struct kernel_type type;

	if (from.len < sizeof(header))
		return false;
	memcpy(&header, from.at, sizeof(header));
	if (header.magic != BTF_MAGIC || header.hdr_len > from.len)
		return false;
	struct bytes rest = bytes_from(from, header.hdr_len);
	if (header.type_off > rest.len || header.type_len > rest.len - header.type_off ||
	    header.str_off > rest.len || header.str_len > rest.len - header.str_off)
		return false;
	btf.types = (struct bytes){ rest.at + header.type_off, header.type_len };
	btf.strings = (struct bytes){ rest.at + header.str_off, header.str_len };
	for (size_t at = 0; kernel_read_type(btf.types, at, &type);
	     at += sizeof(type.head) + type.parts.len) {
		vec_push(&btf.at, (uint32_t)at);
		if (kernel_is_wanted(&btf, &type, members, n))
			vec_push(&btf.wanted, (uint32_t)at);
	}
	kernel_look_at_wanted(&btf, members, n);
	vec_done(&btf.at);
	vec_done(&btf.wanted);
	return kernel_has_all(members, n);
}

/* The file's contents, where the kernel cannot map it. */
static size_t kernel_read_file(int fd, uint8_t *ret, size_t size)
{
	size_t len = 0;
	ssize_t got;

	while (len < size && (got = read(fd, ret + len, size - len)) > 0)
		len += (size_t)got;
	return len;
}

bool kernel_types_find(struct kernel_member *members, size_t n)
{
	CLEANUP(close_fd) int fd = open(BTF_FILE, O_RDONLY | O_CLOEXEC);
	struct stat file;

	if (fd < 0 || fstat(fd, &file) < 0 || file.st_size <= 0 || file.st_size > BTF_SIZE_MAX)
		return false;
	size_t size = (size_t)file.st_size;
	void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0); /* since Linux 6.16 */
	if (mapped != MAP_FAILED) {
		bool is_found = kernel_types_search((struct bytes){ mapped, size }, members, n);
		munmap(mapped, size);
		return is_found;
	}
	CLEANUP(freep) uint8_t *btf = alloc_resize(NULL, size, 1);
	return kernel_types_search((struct bytes){ btf, kernel_read_file(fd, btf, size) }, members, n);
}
