/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_private: what image.c stores about a file and image_bytes.c reads, and how image_registry.c creates
 * images.
 */
#pragma once

#include <elf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/inflate.h"
#include "binary/elf/image.h"

/* Reports why a file is not an image; returns error. */
int image_refuse(struct diag *diag, int error, const char *path, const char *why);

/* A compressed section, decompressed as far as needed. Its bytes do not move when more are added. */
struct unpacked {
	pthread_mutex_t lock;
	uint8_t *at;
	size_t len;                          /* decompressed so far */
	size_t size;                         /* of the whole section; 0 = damaged */
	struct inflater *inflater;           /* NULL: decompression is complete */
	void (*release)(struct bytes bytes); /* releases bytes that were passed by image_section_lend; NULL =
						they are our own */
};

struct image_private {
	void *map; /* mapped or malloc'ed bytes of the file */
	size_t map_len;
	bool is_mapped;
	struct unpacked **unpacked; /* per section; NULL = not requested yet */
	struct segment *segments;
	struct section *sections;
	size_t n_headers;                 /* of sections, as stated */
	atomic_uint_least64_t left;       /* remaining memory budget in bytes; see image_take */
	atomic_uint_least64_t scans_left; /* see image_scan */
	uint32_t round;                   /* when it was last opened or asked for: see images_find_unused */
	atomic_bool is_too_much;
	atomic_bool is_brief; /* only the beginning of the file was read so far: no sections are known */
	pthread_mutex_t lock; /* of the list `unpacked`, and of reading the sections */
};

struct image *image_new(enum image_kind kind, const char *path);
void image_free(struct image *image); /* may be NULL */
/* Like images_open_fd and images_open_memory, but always create a new image. Files of more than read_limit
 * bytes are mapped. */
int image_open_file(int fd, const struct stat *st, const char *path, size_t read_limit, struct image **ret,
		    struct diag *diag);
int image_open_bytes(struct bytes elf, const char *name, struct image **ret, struct diag *diag);
/* Reads what was left out when the image was opened, if anything was. */
void image_complete(struct image *image);

/* Sets the memory budget for a file of this size. */
void image_allow(struct image *image, uint64_t file_bytes);

/* Nothing is loaded at the last megabyte of addresses, so that they can be rounded up without overflow. */
struct segment image_segment_of(const Elf64_Phdr *header);

#define IMAGE_HEAD 4096 /* bytes */
/* Reads everything except the sections from the first bytes of the file. False, and nothing is changed, if
 * those are not enough. */
bool image_head_read(struct image *image, struct bytes head);
