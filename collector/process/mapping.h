/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping: from a mapping of a process to its image.
 *
 * A name proves nothing: the file may have been replaced, the process may live in another root. So a
 * file is opened as the process sees it (/proc/PID/root, map_files, exe) or, when the process has
 * gone, by its plain path, and taken only if its build-id or inode is the one that was mapped.
 * What cannot be had becomes an image of kind unknown with the same name, never a wrong one.
 */
#pragma once

#include "binary/elf/image.h"
#include "collector/event.h"

/* What the kernel said of the file that was mapped. */
struct mapping_file {
	uint64_t inode; /* 0 = not said */
	uint32_t major, minor;
	struct build_id build_id; /* len 0 = not said */
	pid_t tid; /* a thread that lives: /proc tells nothing through a first one that has ended; 0 = pid */
};

/*
 * pc = vaddr + bias for a part of the image that is mapped at start. False if no segment of the image
 * holds that part of the file. Where two segments share a page of the file, is_executable tells them apart.
 */
bool mapping_bias(const struct image *image, uint64_t start, uint64_t file_offset, bool is_executable,
		  uint64_t *ret);

/*
 * How the file behind a mapping is found. Each returns IMAGE_NONE if there is none that is surely the one
 * that was mapped.
 */
struct mapper_ops {
	/* path: that of the mapping, without " (deleted)". */
	image_id (*open_file)(void *context, pid_t pid, const struct mapping_file *file,
			      const struct mapping *mapping, const char *path);
	image_id (*open_vdso)(void *context, pid_t pid, const struct mapping_file *file,
			      const struct mapping *mapping);
};

/* A file that lies under root, which links in the path do not lead out of; only if it is a regular one. -1 if
 * not. */
int mapping_open_inside(int root, const char *path);

struct mapper;
/* For live processes. images is borrowed. */
struct mapper *mapper_new(struct images *images);
/* For recordings: files are found by ops, which are called with context. */
struct mapper *mapper_new_with(struct images *images, const struct mapper_ops *ops, void *context);
void mapper_free(struct mapper *mapper);
/* Fills in image and bias; the rest of the mapping is given. */
void mapper_resolve(struct mapper *mapper, pid_t pid, const struct mapping_file *file,
		    struct mapping *mapping);
