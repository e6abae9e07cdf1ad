/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapping: from a mapping of a process to its image.
 *
 * A name is not enough: the file may have been replaced, or the process may have another root. So a file is
 * opened as the process sees it (/proc/PID/root, map_files, exe) or, if the process has ended, by its plain
 * path, and used only if its build-id or inode is the one that was mapped. If it is not available, the result
 * is an image of kind unknown with the same name, never a wrong one.
 */
#pragma once

#include "binary/elf/image.h"
#include "collector/event.h"

/* What the kernel reported about the mapped file. */
struct mapping_file {
	uint64_t inode; /* 0 = not known */
	uint32_t major, minor;
	struct build_id build_id; /* len 0 = not known */
	pid_t tid; /* a living thread: /proc does not work through a main thread that has ended; 0 = pid */
};

/*
 * pc = vaddr + bias for the part of the image that is mapped at start. False if no segment of the image
 * contains that part of the file. If two segments share a page of the file, is_executable distinguishes them.
 */
bool mapping_bias(const struct image *image, uint64_t start, uint64_t file_offset, bool is_executable,
		  uint64_t *ret);

/*
 * How the file of a mapping is found. Each returns IMAGE_NONE if no file is certainly the one that was
 * mapped.
 */
struct mapper_ops {
	/* path: that of the mapping, without " (deleted)". */
	image_id (*open_file)(void *context, pid_t pid, const struct mapping_file *file,
			      const struct mapping *mapping, const char *path);
	image_id (*open_vdso)(void *context, pid_t pid, const struct mapping_file *file,
			      const struct mapping *mapping);
};

/* Opens a regular file under root; links in the path cannot lead outside. -1 if it fails. */
int mapping_open_inside(int root, const char *path);

struct mapper;
/* For live processes. images is borrowed. */
struct mapper *mapper_new(struct images *images);
/* For recordings: files are found by ops, which are called with context. */
struct mapper *mapper_new_with(struct images *images, const struct mapper_ops *ops, void *context);
void mapper_free(struct mapper *mapper);
/* Each file is looked for again when it is mapped next. Otherwise images_find_unused does not know that it is
 * used. */
void mapper_forget(struct mapper *mapper);
/* Fills in image and bias; the rest of the mapping must be set. False if its code is not available. */
bool mapper_resolve(struct mapper *mapper, pid_t pid, const struct mapping_file *file,
		    struct mapping *mapping);
