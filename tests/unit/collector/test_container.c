/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/container.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json_tree.h"
#include "tests/test.h"

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PID 7

/* A root directory in which process PID has a cgroup, and a file. */
static char *root_make(const char *cgroup)
{
	char *root = alloc_text("/tmp/cpprof-container-XXXXXX");

	CHECK(mkdtemp(root) != NULL);
	CLEANUP(freep) char *command = alloc_printf("mkdir -p %s/proc/%d", root, PID);
	CHECK_EQ(system(command), 0);
	CLEANUP(freep) char *path = alloc_printf("%s/proc/%d/cgroup", root, PID);
	FILE *file = fopen(path, "w");
	CHECK(file != NULL);
	fputs(cgroup, file);
	fclose(file);
	return root;
}

static void root_add(const char *root, const char *path, const char *text)
{
	CLEANUP(freep) char *whole = alloc_printf("%s/%s", root, path);
	CLEANUP(freep) char *command = alloc_printf("mkdir -p $(dirname %s)", whole);

	CHECK_EQ(system(command), 0);
	FILE *file = fopen(whole, "w");
	CHECK(file != NULL);
	fputs(text, file);
	fclose(file);
}

static void root_remove(char *root)
{
	CLEANUP(freep) char *command = alloc_printf("rm -r %s", root);

	CHECK_EQ(system(command), 0);
	free(root);
}

/* The name of the container that the process is in: "" if it has none; NULL if it is in none. */
static void check_found(const char *cgroup, const char *path, const char *text, const char *name)
{
	struct container container;
	char *root = root_make(cgroup);

	if (path)
		root_add(root, path, text);
	bool is_found = container_find(root, PID, &container);
	CHECK_EQ(is_found, name != NULL);
	if (is_found)
		CHECK_STR(container.id, ID);
	if (is_found && json_tree_is_there())
		CHECK_STR(container.name ? container.name : "", name);
	container_done(&container);
	root_remove(root);
}

TEST(container_is_recognised_by_the_cgroup)
{
	check_found("0::/system.slice/docker-" ID ".scope\n", NULL, NULL, "");
	check_found("12:pids:/docker/" ID "\n1:name=systemd:/docker/" ID "\n", NULL, NULL, "");
	check_found("0::/machine.slice/libpod-" ID ".scope/container\n", NULL, NULL, "");
	check_found("0::/kubepods.slice/kubepods-pod12.slice/cri-containerd-" ID ".scope\n", NULL, NULL, "");
	check_found("0::/kubepods/burstable/pod5/" ID "\n", NULL, NULL, "");
	check_found("0::/machine.slice/libpod-conmon-" ID ".scope\n", NULL, NULL, NULL);
	check_found("0::/user.slice/user-0.slice/session-1.scope\n", NULL, NULL, NULL);
	check_found("0::/docker/" ID "0\n", NULL, NULL, NULL); /* too long for an id */
	check_found("0::/docker/" ID, NULL, NULL, "");
	check_found("", NULL, NULL, NULL);
	check_found(ID, NULL, NULL, NULL);
}

TEST(container_has_the_name_given_by_its_runtime)
{
	const char *cgroup = "0::/x/" ID "\n";

	check_found(cgroup, "var/lib/docker/containers/" ID "/config.v2.json",
		    "{\"State\":{\"Pid\":7},\"ID\":\"" ID "\",\"Name\":\"/web\",\"Driver\":\"overlay2\"}",
		    "web");
	check_found(cgroup, "var/lib/containers/storage/overlay-containers/containers.json",
		    "[{\"id\":\"ab\",\"names\":[\"other\"]},{\"id\":\"" ID
		    "\",\"names\":[\"db\",\"alias\"]}]",
		    "db");
	check_found(cgroup, "var/lib/containers/storage/overlay-containers/" ID "/userdata/config.json",
		    "{\"annotations\":{\"io.kubernetes.container.name\":\"app\",\"io.kubernetes.pod.name\":"
		    "\"shop\"}}",
		    "shop/app");
	check_found(cgroup, "run/containerd/io.containerd.runtime.v2.task/k8s.io/" ID "/config.json",
		    "{\"annotations\":{\"io.kubernetes.cri.container-name\":\"app\","
		    "\"io.kubernetes.cri.sandbox-name\":\"shop-1\"}}",
		    "shop-1/app");
	check_found(cgroup, "run/containerd/io.containerd.runtime.v2.task/default/" ID "/config.json",
		    "{\"annotations\":{\"nerdctl/name\":\"box\"}}", "box");
}

TEST(container_description_that_is_invalid_gives_no_name)
{
	const char *cgroup = "0::/x/" ID "\n", *docker = "var/lib/docker/containers/" ID "/config.v2.json";
	const char *podman = "var/lib/containers/storage/overlay-containers/containers.json";
	CLEANUP(freep) char *large = alloc_zero(1, JSON_TREE_SIZE + 100);

	memset(large, ' ', JSON_TREE_SIZE + 50);
	memcpy(large, "{\"Name\":\"/web\"}", 15);
	check_found(cgroup, docker, large, "");
	check_found(cgroup, docker, "{\"Name\":17}", "");
	check_found(cgroup, docker, "{\"Name\":\"/\"}", "");
	check_found(cgroup, docker, "[]", "");
	check_found(cgroup, docker, "{\"Name\":\"/web\"", "");
	check_found(cgroup, docker, "", "");
	check_found(cgroup, podman, "{\"id\":\"" ID "\"}", "");
	check_found(cgroup, podman, "[{\"id\":\"" ID "\",\"names\":[]},17,{\"id\":\"" ID "\",\"names\":7}]",
		    "");
}

/* Reading this system's own files does not fail. */
TEST(container_of_this_process_is_found_or_not)
{
	struct container container;

	if (container_find("", getpid(), &container))
		CHECK_EQ(strlen(container.id), CONTAINER_ID);
	container_done(&container);
}
