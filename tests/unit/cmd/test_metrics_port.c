/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/metrics_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "tests/test.h"

#define DRIPS_MAX 60

static int connect_to(uint16_t number)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_port = htons(number),
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_EQ(connect(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* A port that was free a moment ago. */
static struct metrics_port *open_port(uint16_t *ret_number)
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct metrics_port *port = NULL;
	char text[16];

	CHECK_EQ(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	close(fd);
	*ret_number = ntohs(at.sin_port);
	snprintf(text, sizeof(text), "%u", *ret_number);
	CHECK_EQ(port_open(text, &port, NULL), 0);
	return port;
}

/* One character of a request that never ends, ten times a second. Returns how many were accepted. */
static void *drip(void *context)
{
	const struct timespec pause = { .tv_nsec = 100000000 };
	const int *fd = context;
	uintptr_t n = 0;

	while (n < DRIPS_MAX && send(*fd, "G", 1, MSG_NOSIGNAL) == 1) {
		n++;
		nanosleep(&pause, NULL);
	}
	return (void *)n;
}

TEST(metrics_port_does_not_wait_for_a_client_that_never_ends_its_request)
{
	uint16_t number;
	struct metrics_port *port = open_port(&number);
	int fd = connect_to(number);
	pthread_t thread;
	void *n;

	CHECK_EQ(pthread_create(&thread, NULL, drip, &fd), 0);
	pthread_join(thread, &n);
	CHECK((uintptr_t)n < DRIPS_MAX); /* the connection was closed although it was not idle */
	close(fd);
	port_close(port);
}

TEST(metrics_port_answers)
{
	static const char request[] = "GET /metrics HTTP/1.1\r\n\r\n";
	uint16_t number;
	struct metrics_port *port = open_port(&number);
	char answer[512] = "";

	port_set(port, PORT_METRICS, strdup("a_metric 1\n"));
	int fd = connect_to(number);
	CHECK_EQ(send(fd, request, sizeof(request) - 1, 0), sizeof(request) - 1);
	for (ssize_t len = 0, n = 1; n > 0; len += n)
		n = recv(fd, answer + len, sizeof(answer) - 1 - (size_t)len, 0);
	CHECK(strstr(answer, "200 OK") != NULL);
	CHECK(strstr(answer, "\r\n\r\na_metric 1\n") != NULL);
	close(fd);
	port_close(port);
}
