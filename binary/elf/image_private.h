/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_private: what image.c keeps of a file and image_bytes.c reads, and how image_registry.c makes images.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "base/inflate.h"
#include "binary/elf/image.h"

/* Why a file is no image; returns error. */
int image_refuse(struct diag *diag, int error, const char *path, const char *why);

/* A compressed section, as far as it was asked for. Its bytes stay where they are when more are added. */
struct unpacked {
	pthread_mutex_t lock;
	uint8_t *at;
	size_t len;                /* that are there */
	size_t size;               /* of all; 0 = damaged */
	struct inflater *inflater; /* NULL: all are there */
	void (*release)(
		struct bytes bytes); /* releases bytes that were handed over; NULL = they are our own */
};

struct image_private {
	void *map; /* mapped or malloc'ed bytes of the file */
	size_t map_len;
	bool is_mapped;
	struct unpacked **unpacked; /* per section; NULL = not asked for yet */
	struct segment *segments;
	struct section *sections;
	size_t n_headers;                 /* of sections, as stated */
	atomic_uint_least64_t left;       /* bytes that it may still cost; see image_take */
	atomic_uint_least64_t scans_left; /* see image_scan */
	atomic_bool is_too_much;
	atomic_bool is_brief; /* only the head was read so far: no sections are known */
	pthread_mutex_t lock; /* of the list `unpacked`, and of reading the sections */
};

struct image *image_new(enum image_kind kind, const char *path);
void image_free(struct image *image); /* NULL too */
/* As images_open_fd and images_open_memory, each time another image. Files of more than read_limit bytes are
 * mapped. */
int image_open_file(int fd, const struct stat *st, const char *path, size_t read_limit, struct image **ret,
		    struct diag *diag);
int image_open_bytes(struct bytes elf, const char *name, struct image **ret, struct diag *diag);
/* Reads what was left out when the image was opened, if anything was. */
void image_complete(struct image *image);

/* How much a file of so many bytes may cost. */
void image_allow(struct image *image, uint64_t file_bytes);

#define IMAGE_HEAD 4096 /* bytes */
/* Everything but the sections, from the first bytes of the file. False, and nothing is changed, if those are
 * not enough. */
bool image_head_read(struct image *image, struct bytes head);
