/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build_file: builds small perf.data files in tests.
 */
#pragma once

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/writer.h"
#include "tests/unit/collector/build_record.h"

#define IDS_MAX 8

struct file_build {
	struct perf_event_attr attr[4];
	uint64_t id[4][IDS_MAX];
	size_t n_ids[4], n_attrs;
	struct writer data;        /* records */
	struct writer feature[40]; /* by number; empty = absent */
	bool is_stream;
	uint64_t stated_size; /* data size in the header; 0 = the true one, UINT64_MAX: write 0 */
};

static inline struct perf_event_attr *file_attr(struct file_build *f, uint64_t sample_type, uint64_t id)
{
	struct perf_event_attr *attr = &f->attr[f->n_attrs];

	*attr = (struct perf_event_attr){ .size = sizeof(*attr),
					  .type = PERF_TYPE_SOFTWARE,
					  .sample_type = sample_type,
					  .sample_freq = 99,
					  .freq = 1,
					  .sample_id_all = 1 };
	f->id[f->n_attrs][0] = id;
	f->n_ids[f->n_attrs] = id ? 1 : 0;
	f->n_attrs++;
	return attr;
}

static inline void file_record(struct file_build *f, struct build *b)
{
	write_bytes(&f->data, built(b));
}

static inline void file_string(struct file_build *f, unsigned feature, const char *text)
{
	struct writer *w = &f->feature[feature];
	size_t len = (strlen(text) + 64) & ~(size_t)63;

	write_u32(w, (uint32_t)len);
	memcpy(write_space(w, len), text, strlen(text));
}

static inline void put_tool_record(struct writer *w, uint32_t type, struct bytes a, struct bytes b)
{
	write_u32(w, type);
	write_u16(w, 0);
	write_u16(w, (uint16_t)(8 + a.len + b.len));
	write_bytes(w, a);
	write_bytes(w, b);
}

static inline void build_stream(struct file_build *f, struct writer *w)
{
	write_bytes(w, (struct bytes){ (const uint8_t *)"PERFILE2", 8 });
	write_u64(w, 16);
	for (size_t i = 0; i < f->n_attrs; i++)
		put_tool_record(w, 64, (struct bytes){ (uint8_t *)&f->attr[i], sizeof(f->attr[i]) },
				(struct bytes){ (uint8_t *)f->id[i], f->n_ids[i] * 8 });
	for (uint64_t i = 0; i < ARRAY_LEN(f->feature); i++)
		if (f->feature[i].len)
			put_tool_record(w, 80, (struct bytes){ (uint8_t *)&i, 8 },
					writer_bytes(&f->feature[i]));
	write_bytes(w, writer_bytes(&f->data));
}

static inline void build_sections(struct file_build *f, struct writer *w)
{
	size_t entry = sizeof(struct perf_event_attr) + 16, attrs = 104, ids = attrs + f->n_attrs * entry;
	size_t data = ids + f->n_attrs * IDS_MAX * 8;
	uint64_t bits = 0, size = f->stated_size ? f->stated_size : f->data.len;

	write_bytes(w, (struct bytes){ (const uint8_t *)"PERFILE2", 8 });
	write_u64(w, 104), write_u64(w, entry);
	write_u64(w, attrs), write_u64(w, f->n_attrs * entry);
	write_u64(w, data), write_u64(w, size == UINT64_MAX ? 0 : size);
	write_u64(w, 0), write_u64(w, 0);
	for (size_t i = 0; i < ARRAY_LEN(f->feature); i++)
		bits |= (uint64_t)(f->feature[i].len > 0) << i;
	write_u64(w, bits);
	write_space(w, 24);
	for (size_t i = 0; i < f->n_attrs; i++) {
		write_bytes(w, (struct bytes){ (uint8_t *)&f->attr[i], sizeof(f->attr[i]) });
		write_u64(w, ids + i * IDS_MAX * 8), write_u64(w, f->n_ids[i] * 8);
	}
	for (size_t i = 0; i < f->n_attrs; i++)
		write_bytes(w, (struct bytes){ (uint8_t *)f->id[i], IDS_MAX * 8 });
	write_bytes(w, writer_bytes(&f->data));
	uint64_t at = w->len + 16 * (uint64_t)__builtin_popcountll(bits);
	for (size_t i = 0; i < ARRAY_LEN(f->feature); i++)
		if (f->feature[i].len) {
			write_u64(w, at), write_u64(w, f->feature[i].len);
			at += f->feature[i].len;
		}
	for (size_t i = 0; i < ARRAY_LEN(f->feature); i++)
		write_bytes(w, writer_bytes(&f->feature[i]));
}

static inline int fd_of(struct bytes bytes)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	if (write(fd, bytes.at, bytes.len) != (ssize_t)bytes.len)
		abort();
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* Returns a descriptor of the file and frees the build. */
static inline int file_built(struct file_build *f)
{
	struct writer w = { 0 };

	if (f->is_stream)
		build_stream(f, &w);
	else
		build_sections(f, &w);
	int fd = fd_of(writer_bytes(&w));
	writer_done(&w);
	writer_done(&f->data);
	for (size_t i = 0; i < ARRAY_LEN(f->feature); i++)
		writer_done(&f->feature[i]);
	return fd;
}
