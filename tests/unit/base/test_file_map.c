/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/test.h"

#define LEN (64u << 10)

static int file_of(uint8_t byte)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	uint8_t bytes[LEN];

	memset(bytes, byte, sizeof(bytes));
	CHECK_EQ(write(fd, bytes, sizeof(bytes)), sizeof(bytes));
	return fd;
}

TEST(a_mapped_file_that_shrinks_reads_as_zeroes_and_is_marked)
{
	volatile bool is_changed = false, is_other_changed = false;
	int fd = file_of(1), other = file_of(2);
	void *at, *other_at;

	CHECK_EQ(file_map(fd, LEN, &is_changed, &at), 0);
	CHECK_EQ(file_map(other, LEN, &is_other_changed, &other_at), 0);
	CHECK_EQ(((uint8_t *)at)[LEN - 1], 1);
	CHECK(!is_changed);
	CHECK_EQ(ftruncate(fd, 0), 0);
	CHECK_EQ(((volatile uint8_t *)at)[LEN - 1], 0);
	CHECK(is_changed);
	CHECK_EQ(((uint8_t *)other_at)[LEN - 1], 2);
	CHECK(!is_other_changed);
	file_unmap(at, LEN);
	file_unmap(other_at, LEN);
	close(fd);
	close(other);
}

TEST(a_failed_mapping_returns_its_error)
{
	volatile bool is_changed;
	int ends[2];
	void *at;

	CHECK_EQ(pipe(ends), 0);
	CHECK_EQ(file_map(ends[0], LEN, &is_changed, &at), -ENODEV);
	close(ends[0]);
	close(ends[1]);
}

TEST(slots_are_reused_and_their_number_is_limited)
{
	volatile bool is_changed = false;
	static void *at[5000];
	int fd = file_of(1), error = 0;
	size_t n = 0;

	for (size_t i = 0; i < 5000; i++) { /* more than there are slots: each must be freed */
		CHECK_EQ(file_map(fd, LEN, &is_changed, &at[0]), 0);
		file_unmap(at[0], LEN);
	}
	while (n < 5000 && (error = file_map(fd, LEN, &is_changed, &at[n])) == 0)
		n++;
	CHECK_EQ(error, -ENFILE);
	CHECK(n >= 1000);
	while (n > 0)
		file_unmap(at[--n], LEN);
	close(fd);
}

/* Each thread repeatedly maps its own file, which is then truncated. */
static void *shrink_often(void *unused)
{
	size_t n_wrong = 0;

	(void)unused;
	for (unsigned i = 0; i < 200; i++) {
		volatile bool is_changed = false;
		int fd = file_of(1);
		void *at;
		if (file_map(fd, LEN, &is_changed, &at) < 0)
			return (void *)1;
		n_wrong += ((volatile uint8_t *)at)[0] != 1 || is_changed;
		n_wrong += ftruncate(fd, 0) != 0;
		n_wrong += ((volatile uint8_t *)at)[LEN / 2] != 0 || !is_changed;
		file_unmap(at, LEN);
		close(fd);
	}
	return (void *)n_wrong;
}

TEST(threads_map_files_concurrently)
{
	pthread_t threads[4];

	if (test_is_in_valgrind())
		SKIP("valgrind does not tell a thread among others the address of its SIGBUS");
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&threads[i], NULL, shrink_often, NULL), 0);
	for (size_t i = 0; i < 4; i++) {
		void *n_wrong;
		CHECK_EQ(pthread_join(threads[i], &n_wrong), 0);
		CHECK(n_wrong == NULL);
	}
}
