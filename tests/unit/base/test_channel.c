/* SPDX-License-Identifier: Apache-2.0 */
#include "base/channel.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "base/clock.h"
#include "tests/test.h"

struct fenced {
	int ends[2];
};

static int child_talks_nonsense(void *context, int result)
{
	struct fenced *fenced = context;
	const uint64_t header[2] = { 77, UINT64_MAX }; /* an unknown kind of message */

	(void)result;
	return write(fenced->ends[1], header, sizeof(header)) == sizeof(header) ? 0 : 1;
}

TEST(an_invalid_message_is_refused)
{
	struct fenced fenced = { 0 };
	struct writer message = { 0 };
	struct child child = { 0 };
	struct child_options options = { .run = child_talks_nonsense, .context = &fenced };

	CHECK_EQ(channel_pair(fenced.ends), 0);
	CHECK_EQ(child_start(&child, &options), 0);
	CHECK_EQ(channel_receive(&(struct channel_end){ .socket = fenced.ends[0] }, &message), -EPROTO);
	CHECK_EQ(child_wait(&child), 0);
	close(fenced.ends[0]);
	close(fenced.ends[1]);
	child_done(&child);
	writer_done(&message);
}

/* A byte now and then: each of them arrives in time. */
static int child_sends_slowly(void *context, int result)
{
	struct fenced *fenced = context;
	const uint64_t header[2] = { CHANNEL_RESULT, 1 << 20 };

	(void)result;
	close(fenced->ends[0]); /* the parent's: otherwise it does not notice that this was closed */
	if (write(fenced->ends[1], header, sizeof(header)) != sizeof(header))
		return 1;
	for (;;) {
		if (send(fenced->ends[1], "x", 1, MSG_NOSIGNAL) != 1)
			return 0;
		nanosleep(&(struct timespec){ .tv_nsec = 10 * 1000 * 1000 }, NULL);
	}
}

TEST(a_message_must_be_complete_in_time)
{
	struct fenced fenced = { 0 };
	struct writer message = { 0 };
	struct child child = { 0 };
	struct child_options options = { .run = child_sends_slowly, .context = &fenced };

	CHECK_EQ(channel_pair(fenced.ends), 0);
	CHECK_EQ(child_start(&child, &options), 0);
	close(fenced.ends[1]);
	const struct channel_end end = { fenced.ends[0], clock_now_ns() + 200 * CLOCK_NS_PER_MS };
	CHECK_EQ(channel_receive(&end, &message), 0);
	close(fenced.ends[0]);
	CHECK_EQ(child_wait(&child), 0);
	child_done(&child);
	writer_done(&message);
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A header, or the start of one, with two descriptors. */
static void send_two_files(int socket, size_t len)
{
	const uint64_t header[2] = { CHANNEL_TELL, 0 };
	const int fds[2] = { STDERR_FILENO, STDERR_FILENO };
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(fds))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS,
				  .cmsg_len = CMSG_LEN(sizeof(fds)) } };
	struct iovec part = { (void *)header, len };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control.room,
				  .msg_controllen = sizeof(control.room) };

	memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
	CHECK_EQ(sendmsg(socket, &message, 0), len);
}

TEST(descriptors_that_nobody_asked_for_are_closed)
{
	struct writer message = { 0 };
	int ends[2];

	CHECK_EQ(channel_pair(ends), 0);
	const struct channel_end end = { .socket = ends[0] };
	int before = count_descriptors();
	send_two_files(ends[1], 16);
	CHECK_EQ(channel_receive(&end, &message), CHANNEL_TELL);
	CHECK_EQ(count_descriptors(), before);
	send_two_files(ends[1], 8);
	shutdown(ends[1], SHUT_WR);
	CHECK_EQ(channel_receive(&end, &message), 0);
	CHECK_EQ(count_descriptors(), before);
	close(ends[0]);
	close(ends[1]);
	writer_done(&message);
}

TEST(a_long_message_takes_memory_only_as_it_arrives)
{
	const uint64_t header[2] = { CHANNEL_RESULT, CHANNEL_MAX };
	struct writer message = { 0 };
	int ends[2];

	CHECK_EQ(channel_pair(ends), 0);
	CHECK_EQ(write(ends[1], header, sizeof(header)), sizeof(header));
	shutdown(ends[1], SHUT_WR);
	CHECK_EQ(channel_receive(&(struct channel_end){ .socket = ends[0] }, &message), 0);
	CHECK(message.len <= 1 << 20);
	close(ends[0]);
	close(ends[1]);
	writer_done(&message);
}

TEST(answers_that_are_not_read_are_given_up)
{
	int ends[2];
	unsigned n = 0;

	CHECK_EQ(channel_pair(ends), 0);
	const struct channel_end end = { ends[0], clock_now_ns() + 200 * CLOCK_NS_PER_MS };
	while (channel_answer(&end, 0, STDERR_FILENO, (struct bytes){ 0 }))
		n++;
	CHECK(n > 0); /* as many as fit */
	close(ends[0]);
	close(ends[1]);
}
