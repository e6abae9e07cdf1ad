/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image: one body of code, opened once and kept as long as the registry exists.
 *
 * An image is an ELF file, an ELF in memory (the vdso), or a pseudo-image that only has a name (the kernel, a
 * JIT region, a file that could not be read). Addresses are vaddrs, as in the file. Program headers are
 * enough; section headers are used if there are any.
 *
 * The bytes belong to the image. Small files are read into memory; large ones are mapped. A mapped file that
 * is truncated reads as zeroes from then on and is marked as changed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/bytes.h"
#include "base/diag.h"

typedef uint32_t image_id;
#define IMAGE_NONE UINT32_MAX

enum image_kind {
	IMAGE_ELF,     /* a file */
	IMAGE_VDSO,    /* an ELF read from the target's memory */
	IMAGE_KERNEL,  /* vaddrs are kernel addresses */
	IMAGE_JIT,     /* code in anonymous memory; vaddrs are run-time addresses of one process */
	IMAGE_UNKNOWN, /* a file that could not be opened or is not the one that was mapped; vaddrs are file
			  offsets */
};

#define BUILD_ID_MAX 20
struct build_id {
	uint8_t len; /* 0 = none */
	uint8_t bytes[BUILD_ID_MAX];
};

struct segment {
	uint32_t type, flags; /* PT_*, PF_* */
	uint64_t vaddr, offset, file_size, mem_size;
};

struct section {
	const char *name; /* "" if the names are unreadable */
	uint32_t type, link, info;
	uint64_t flags, vaddr, offset, size, entry_size;
};

struct image {
	enum image_kind kind;
	char *path;           /* as the target sees it, or a pseudo name such as "[vdso]" */
	uint16_t elf_machine; /* EM_*, 0 for pseudo-images */
	uint16_t elf_type;    /* ET_* */
	uint64_t entry;       /* e_entry as a vaddr, 0 = none */
	struct build_id build_id;
	struct bytes file; /* the whole file; empty for pseudo-images */
	dev_t dev;
	ino_t inode;
	/* 0: only root and the user can write the file. Otherwise a value for image_identity that is valid
	 * for this run only: results from such a file must not be mistaken for those of the file that it
	 * claims to be. */
	uint64_t foreign;
	uint32_t writer;       /* who can write the file, see image_file_writer */
	uint32_t owner, group; /* of the file */
	pid_t pid;             /* IMAGE_JIT: the process whose code it is, 0 = not known */
	const struct segment *segments;
	size_t n_segments;
	const struct section *sections; /* none if there are no section headers */
	size_t n_sections;
	volatile bool is_changed; /* the file was truncated while we had it mapped */
	struct image_private *private;
};

struct stat;
/* The value of image->foreign for a file. */
uint64_t image_file_foreign(const struct stat *st);
/* Who can write a file: 0 = only root and the user, like image->foreign; 1 + the only other user; or
 * IMAGE_WRITERS. Unlike image->foreign, it is the same in every run. */
#define IMAGE_WRITERS UINT32_MAX /* several others */
uint32_t image_file_writer(const struct stat *st);

/* The registry owns every image, and assigns ids in the order in which images are first seen. Any thread may
 * add and read. */
struct images;
struct images *images_new(void);
void images_free(struct images *images);
/* Allows the kernel to drop the mapped parts of files from memory. */
void images_rest(struct images *images);
size_t images_count(const struct images *images);
/*
 * On a machine that runs for weeks there are ever new files, and a deleted one stays on the disk as long as
 * we have it mapped. images_find_unused, called from time to time, returns for each id whether it can be
 * forgotten: it is not in `is_used`, and was not opened or asked for since the last but two calls. NULL if
 * there are only few. images_forget frees these images and uses their ids again for others: nobody may still
 * have one, and no other thread may use the registry meanwhile.
 */
bool *images_find_unused(struct images *images, const bool *is_used);
void images_forget(struct images *images, const bool *is_unused);
/* Increases when an id gets another meaning. */
uint64_t images_changes(const struct images *images);
/* Valid as long as images; NULL for IMAGE_NONE. */
struct image *images_get(const struct images *images, image_id id);
/*
 * The same for callers that only need what is at the beginning of a file: kind, path, machine, type, entry,
 * build-id, device, inode and segments. Until images_get is called for the image, its sections may be unknown
 * and its bytes may not be in memory.
 */
const struct image *images_peek(const struct images *images, image_id id);

/*
 * Opens the regular file behind fd (borrowed; never blocks) once: files with the same device, inode and size,
 * or with the same build-id if only root and the user can write them, get the same id. path is only a name.
 * -ENOEXEC if it is not a 64-bit little-endian ELF file.
 */
int images_open_fd(struct images *images, int fd, const char *path, image_id *ret, struct diag *diag);
int images_open(struct images *images, const char *path, image_id *ret, struct diag *diag);
/* The same for a file of which little may be needed: it is always mapped, even if it is small. */
int images_open_mapped(struct images *images, const char *path, image_id *ret, struct diag *diag);
/* An ELF held in memory; the bytes are copied. */
int images_open_memory(struct images *images, struct bytes elf, const char *name, image_id *ret,
		       struct diag *diag);
/* A pseudo-image: same kind, name and build-id give the same id. build_id may be NULL. */
image_id images_add_pseudo(struct images *images, enum image_kind kind, const char *name,
			   const struct build_id *build_id);
/* The same for code in anonymous memory of a process: kind IMAGE_JIT, with the pid. */
image_id images_add_jit(struct images *images, const char *name, pid_t pid);

/* Bytes from vaddr to the end of the file-backed part of its segment; empty if there are none. */
struct bytes image_bytes(const struct image *image, uint64_t vaddr);
/* The same, but only inside executable segments. */
struct bytes image_code(const struct image *image, uint64_t vaddr);
bool image_is_code(const struct image *image, uint64_t vaddr);
/* The end of the section that contains vaddr, or of the segment if there are no sections; vaddr if it is not
 * code. */
uint64_t image_code_end(const struct image *image, uint64_t vaddr);
/* The same, but the file need not have the bytes: debug files keep the addresses and drop the code. */
bool image_is_executable(const struct image *image, uint64_t vaddr);
/* NULL if there is no such section. */
const struct section *image_section(const struct image *image, const char *name);
/* A section's contents, decompressed if necessary (once; kept by the image). Empty for SHT_NOBITS or damage.
 */
struct bytes image_section_bytes(struct image *image, const struct section *section);
/*
 * The first bytes of a section: at least `len`, or all. A compressed section is decompressed only that far,
 * so damage after that may not be noticed; a later call for more does not move the bytes. Several threads may
 * call this for different sections at the same time.
 */
struct bytes image_section_start(struct image *image, const struct section *section, uint64_t len);
/*
 * Passes the bytes of a compressed section that were decompressed elsewhere; the image releases them. False,
 * and nothing is taken, if the section's bytes have already been requested.
 */
bool image_section_lend(struct image *image, const struct section *section, struct bytes bytes,
			void (*release)(struct bytes bytes));
/* Its size when decompressed, as its header states. */
uint64_t image_section_size(const struct image *image, const struct section *section);
/* Shorthand for the two above; empty if there is no such section. */
struct bytes image_named_bytes(struct image *image, const char *name);
/* vaddr of a file offset inside a loadable segment; UINT64_MAX if none. */
uint64_t image_vaddr_of_offset(const struct image *image, uint64_t offset);
/* The first segment of a type; NULL if none. */
const struct segment *image_segment(const struct image *image, uint32_t type);
/* The value of a DT_* tag in PT_DYNAMIC; false if it is not there. */
bool image_dynamic(const struct image *image, int64_t tag, uint64_t *ret);
/*
 * A hash that differs between files of different contents. Without a build-id it is computed from the whole
 * file. For a file that is too large for that, and for one that others can write (its build-id may be
 * copied), it is unique: different even in the next run.
 */
uint64_t image_identity(const struct image *image);
/*
 * The memory budget of an image depends on the size of its file; a small file that expands to gigabytes is
 * hostile. Code that keeps something whose size is determined by a file first takes that many bytes from the
 * budget. False: the budget is exhausted; the data must be left out, and image_is_too_much returns true from
 * then on. Any thread may take and give back.
 */
bool image_take(struct image *image, uint64_t bytes);
void image_give_back(struct image *image, uint64_t bytes);
bool image_is_too_much(const struct image *image);
/*
 * The same of time: a table that is read from end to end to answer one question, which costs nothing to keep.
 * False: so many bytes were read for that already that the table is better read once, and kept.
 */
bool image_scan(const struct image *image, uint64_t bytes);
bool image_may_scan(const struct image *image);
/* Last component of the path. */
const char *image_name(const struct image *image);

bool build_id_equal(const struct build_id *a, const struct build_id *b);
/* Lower-case hex; text has room for 2 * BUILD_ID_MAX + 1. */
void build_id_format(const struct build_id *id, char *text);
/* From the notes of a PT_NOTE segment or SHT_NOTE section; len 0 if there is none. */
struct build_id build_id_from_notes(struct bytes notes);
/* Of the running program itself; len 0 if its linker gave it none. */
struct build_id build_id_own(void);
