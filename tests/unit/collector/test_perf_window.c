/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings that are read in place: what happens if they change while they are read, and what stays in
 * memory.
 */
#include "collector/perfdata/perf_window.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/compress.h"
#include "tests/unit/collector/open_build.h"

#define N_SAMPLES 5000
#define SAMPLE_SIZE 32

/* Samples at 1, 2, ... N_SAMPLES; a round ends after each `n_round`, if that is not 0. */
static struct file_build samples(unsigned n_round)
{
	struct file_build f = simple();

	for (unsigned i = 1; i <= N_SAMPLES; i++) {
		put_sample(&f, i, i);
		if (n_round && i % n_round == 0)
			put_bare(&f, 68);
	}
	return f;
}

/* Opens the recording; the returned descriptor is for the same file. */
static int open_twice(struct file_build *f)
{
	int fd = file_built(f), again = dup(fd);

	CHECK(again >= 0);
	CHECK_EQ(open_fd(fd, "/nonexistent"), 0);
	return again;
}

static off_t size_of(int fd)
{
	return lseek(fd, 0, SEEK_END);
}

/* Reads to the end: samples are in order and unchanged; returns the last. */
static unsigned read_samples(unsigned last)
{
	int status;

	while ((status = next()) > 0) {
		CHECK(event.kind == EVENT_SAMPLE);
		CHECK_EQ(event.sample.user_pc[0], last + 1);
		CHECK_EQ(event.time_ns, last + 1);
		last++;
	}
	CHECK_EQ(status, 0);
	return last;
}

TEST(a_recording_truncated_while_it_is_read_ends_there_with_a_note)
{
	static const off_t cut[] = { 100000, 98304,
				     98304 + SAMPLE_SIZE / 2 }; /* in a page, at its end, in a sample */

	for (size_t i = 0; i < ARRAY_LEN(cut); i++) {
		struct file_build f = samples(100);
		int fd = open_twice(&f);
		for (unsigned j = 1; j <= 100; j++)
			CHECK_EQ(next(), 1);
		CHECK_EQ(ftruncate(fd, cut[i]), 0);
		unsigned last = read_samples(100);
		CHECK(last > 2000 && last < (unsigned)(cut[i] / SAMPLE_SIZE));
		CHECK(has_note("is truncated"));
		done();
		close(fd);
	}
}

TEST(uncopied_records_are_left_out_if_the_file_is_truncated)
{
	struct file_build f = samples(0); /* no rounds: sorted only after everything was read */
	int fd = open_twice(&f);

	CHECK_EQ(next(), 1);
	CHECK_EQ(ftruncate(fd, 65536), 0);
	unsigned last = read_samples(1);
	CHECK(last > 1000 && last <= 65536 / SAMPLE_SIZE);
	CHECK(has_note("is truncated"));
	CHECK(has_note("corrupt records"));
	done();
	close(fd);
}

TEST(a_recording_emptied_while_it_is_read_does_not_crash)
{
	struct file_build f = samples(100);
	int fd = open_twice(&f);

	CHECK_EQ(next(), 1);
	CHECK_EQ(ftruncate(fd, 0), 0);
	while (next() > 0)
		;
	check_end();
	CHECK(has_note("is truncated"));
	done();
	close(fd);
}

/* A recording without a stated size may still be written. */
TEST(a_recording_that_grows_is_read_to_its_new_end)
{
	struct file_build f = { .stated_size = UINT64_MAX }, more = { 0 };

	/* There is nothing after the data: the architecture is known from the registers. */
	file_attr(&f, SAMPLE_TYPE | PERF_SAMPLE_REGS_USER, 0)->sample_regs_user = 0xff0fff;
	put_comm(&f, "a", 1);
	int fd = open_twice(&f);
	put_comm(&more, "b", 2);
	lseek(fd, 0, SEEK_END);
	CHECK_EQ(write(fd, more.data.at, more.data.len), more.data.len);
	writer_done(&more.data);
	check_next_comm("a");
	check_next_comm("b");
	check_end();
	done();
	close(fd);
}

TEST(a_compressed_record_truncated_while_it_is_read_is_the_end)
{
	struct file_build packed = simple(), f = simple();
	struct buffer out;

	put_sample(&packed, 1, 0); /* without a time: handed out at once */
	CHECK_EQ(compress_zstd(writer_bytes(&packed.data), 1, &out), 0);
	close(file_built(&packed));
	put_sample(&f, 1, 0);
	put_tool_record(&f.data, 81, (struct bytes){ out.at, out.len }, (struct bytes){ 0 });

	int fd = file_built(&f), again = dup(fd);
	off_t size = size_of(again);
	CHECK_EQ(open_fd(fd, "/nonexistent"), 0);
	CHECK_EQ(next(), 1);
	CHECK_EQ(ftruncate(again, size - (16 + 4 + 64) - (off_t)out.len / 2),
		 0); /* the feature section with the architecture follows it */
	check_end();
	CHECK(has_note("is truncated"));
	free(out.at);
	done();
	close(again);
}

TEST(records_are_lent_if_they_are_aligned_and_mapped)
{
	struct perf_window window;
	uint8_t bytes[64] = { 1 };
	int ends[2];

	CHECK_EQ(perf_window_open(&window, fd_of((struct bytes){ bytes, sizeof(bytes) })), 0);
	CHECK_EQ(perf_window_fill(&window, 16), 0);
	struct bytes at = perf_window_bytes(&window);
	CHECK_EQ(at.len, sizeof(bytes));
	CHECK(perf_window_loan(&window, bytes_slice(at, 8, 8)) != NULL);
	CHECK(perf_window_loan(&window, bytes_slice(at, 4, 8)) == NULL);
	CHECK(perf_window_loan(&window, (struct bytes){ bytes, 8 }) == NULL);
	perf_window_close(&window);

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(write(ends[1], bytes, sizeof(bytes)), sizeof(bytes));
	close(ends[1]);
	CHECK_EQ(perf_window_open(&window, ends[0]), 0);
	CHECK_EQ(perf_window_fill(&window, 16), 0);
	at = perf_window_bytes(&window);
	CHECK_EQ(at.at[0], 1);
	CHECK(perf_window_loan(&window, bytes_slice(at, 0, 8)) == NULL);
	perf_window_close(&window);
}

#define MANY (96u << 20)
#define FEW (24u << 20)

/* Bytes of files and shared memory that are in our address space. */
static size_t shared_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	size_t total, resident, shared;

	CHECK(file != NULL);
	CHECK_EQ(fscanf(file, "%zu %zu %zu", &total, &resident, &shared), 3);
	fclose(file);
	return shared * (size_t)sysconf(_SC_PAGESIZE);
}

/* Reads the file to its end, and returns the maximum increase of resident memory. */
static size_t read_all(struct perf_window *window, size_t *ret_loan)
{
	size_t before = shared_bytes(), most = 0;

	for (uint64_t i = 0; i < MANY / 4096; i++) {
		CHECK_EQ(perf_window_fill(window, 4096), 0);
		struct bytes bytes = perf_window_bytes(window);
		CHECK_EQ(bytes.at[0], i % 251 + 1);
		if (i == 0 && ret_loan)
			++*perf_window_loan(window, bytes);
		perf_window_use(window, 4096);
		size_t now = i % 256 ? 0 : shared_bytes();
		most = now > before && now - before > most ? now - before : most;
	}
	return most;
}

TEST(pages_that_were_read_are_released_unless_they_are_lent)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct perf_window window;
	size_t is_lent;

	for (uint64_t i = 0; i < MANY / 4096; i++) {
		uint8_t page[4096] = { (uint8_t)(i % 251 + 1) };
		CHECK_EQ(write(fd, page, sizeof(page)), sizeof(page));
	}
	CHECK_EQ(perf_window_open(&window, dup(fd)), 0);
	CHECK(read_all(&window, NULL) < FEW);
	perf_window_close(&window);

	CHECK_EQ(perf_window_open(&window, fd), 0);
	CHECK(read_all(&window, &is_lent) > FEW);
	perf_window_close(&window);
}

/* Is the page in our page table? */
static bool is_present(const void *at)
{
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);

	CHECK_EQ(pread(fd, &entry, sizeof(entry), (off_t)((uintptr_t)at / page * sizeof(entry))),
		 sizeof(entry));
	close(fd);
	return entry >> 63;
}

TEST(a_record_across_two_pieces_stays_in_memory_while_it_is_used)
{
	const size_t piece = 2u << 20, before = 8192;
	int fd = memfd_create("test", MFD_CLOEXEC);
	struct perf_window window;

	CHECK_EQ(ftruncate(fd, (off_t)(2 * piece)), 0);
	CHECK_EQ(perf_window_open(&window, fd), 0);
	for (size_t at = 0; at < piece - before; at += 4096) {
		CHECK_EQ(perf_window_fill(&window, 4096), 0);
		CHECK_EQ(perf_window_bytes(&window).at[0], 0);
		perf_window_use(&window, 4096);
	}
	CHECK_EQ(perf_window_fill(&window, 2 * before), 0);
	const uint8_t *record = perf_window_bytes(&window).at;
	CHECK_EQ(record[0], 0);
	perf_window_use(&window, 2 * before);
	CHECK(is_present(record));
	CHECK_EQ(perf_window_fill(&window, 4096), 0);
	perf_window_use(&window, 4096);
	CHECK(!is_present(record));
	perf_window_close(&window);
}
