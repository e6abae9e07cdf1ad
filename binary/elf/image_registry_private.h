/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_registry_private: what image_registry.c stores and image_forget.c removes.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "base/hash.h"
#include "base/slots.h"
#include "base/vec.h"
#include "binary/elf/image_private.h"

#define FIRST_BLOCK_LOG2 6

/* A file that was opened. Compared in full, not by its hash: whoever owns a file can choose its size and its
 * times such that the hash is that of another user's file. */
struct registry_file {
	dev_t device;
	ino_t inode;
	off_t size;
	struct timespec modified, changed;
	image_id image;
	uint32_t owner, kb; /* what is counted for it in kb_of; 0 = nothing */
};

/* Blocks double in size and do not move, so readers need no lock. */
struct images {
	struct image **blocks[32 - FIRST_BLOCK_LOG2];
	atomic_size_t n;
	pthread_mutex_t lock; /* for adding, and for everything below */
	VEC(struct registry_file) files;
	struct slots by_file;
	struct map by_build_id;
	struct map kb_of; /* by user, what the files of others take */
	VEC(image_id) pseudos;
	struct slots by_name; /* of pseudos */
	uint32_t round;       /* number of calls of images_find_unused */
	VEC(image_id) free;   /* ids without an image, to be used again */
	struct image *gone;   /* what is found under them */
	uint64_t n_changes;
};

struct image *registry_look_up(const struct images *images, image_id id);
void registry_set(struct images *images, image_id id, struct image *image);
/* The slot of a file in by_file, and adding one that is not there. */
size_t registry_file_slot(const struct images *images, const struct registry_file *file);
void registry_add_file(struct images *images, size_t slot, const struct registry_file *file);
/* The image of this id will not be found by its build-id. */
void registry_forget_build_id(struct images *images, image_id id);
/* Adds a pseudo-image to pseudos and by_name. */
void registry_put_pseudo(struct images *images, image_id id);
