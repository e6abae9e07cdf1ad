/* SPDX-License-Identifier: Apache-2.0 */
#include "collector/process/container.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/json_tree.h"

#define MAX_NAME 256 /* bytes */

/* ---- reading ------------------------------------------------------------------------------------ */

/* A file of at most JSON_TREE_SIZE bytes, with a terminating zero; NULL if there is none. */
static char *container_read(const char *path, size_t *ret_len)
{
	CLEANUP(close_fd) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	size_t len = 0;

	if (fd < 0 || fstat(fd, &stat) < 0 || !S_ISREG(stat.st_mode))
		return NULL;
	char *text = alloc_zero(1, JSON_TREE_SIZE + 2);
	for (ssize_t n = 1; n > 0 && len <= JSON_TREE_SIZE; len += n > 0 ? (size_t)n : 0)
		n = read(fd, text + len, JSON_TREE_SIZE + 1 - len);
	if (len <= JSON_TREE_SIZE) {
		*ret_len = len;
		return text;
	}
	free(text);
	return NULL;
}

static struct json_node *container_parse(const char *path)
{
	struct json_node *root = NULL;
	struct diag diag = { 0 };
	size_t len = 0;
	CLEANUP(freep) char *text = container_read(path, &len);

	if (!text || json_tree_parse((struct bytes){ (const uint8_t *)text, len }, path, &root, &diag) < 0)
		return NULL;
	return root;
}

/* ---- which one ---------------------------------------------------------------------------------- */

/*
 * The last part of a cgroup's path that contains an id: "/docker/ID", "/system.slice/docker-ID.scope",
 * "/kubepods/burstable/podUID/cri-containerd-ID.scope". The monitor of a container ("libpod-conmon-ID") is
 * not inside it.
 */
static bool container_id_in(const char *cgroup, char *ret_id)
{
	bool is_found = false;

	for (const char *at = cgroup; *at;) {
		size_t n = strspn(at, "0123456789abcdef");
		bool is_monitor = at - cgroup >= 7 && memcmp(at - 7, "conmon-", 7) == 0;
		if (n == CONTAINER_ID && at > cgroup && strchr("/-", at[-1])) {
			memcpy(ret_id, at, CONTAINER_ID);
			ret_id[CONTAINER_ID] = 0;
			is_found = !is_monitor;
		}
		at += n ? n : 1;
	}
	return is_found;
}

/* ---- what it is called -------------------------------------------------------------------------- */

static char *container_take_name(const char *name)
{
	if (!name)
		return NULL;
	name += name[0] == '/'; /* as Docker writes it */
	return name[0] && strlen(name) <= MAX_NAME ? alloc_text(name) : NULL;
}

/* Docker's own description. */
static char *container_name_docker(const struct json_node *root, const char *id)
{
	(void)id;
	return container_take_name(json_node_text(json_node_get(root, "Name")));
}

/* What Kubernetes runtimes or nerdctl add to the description that all runtimes share. */
static char *container_name_oci(const struct json_node *root, const char *id)
{
	static const char *const names[] = { "io.kubernetes.container.name",
					     "io.kubernetes.cri.container-name", "nerdctl/name" };
	static const char *const pods[] = { "io.kubernetes.pod.name", "io.kubernetes.cri.sandbox-name" };
	const struct json_node *annotations = json_node_get(root, "annotations");
	const char *name = NULL, *pod = NULL;

	(void)id;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !name; i++)
		name = json_node_text(json_node_get(annotations, names[i]));
	for (size_t i = 0; i < sizeof(pods) / sizeof(*pods) && !pod; i++)
		pod = json_node_text(json_node_get(annotations, pods[i]));
	if (!name || !pod)
		return container_take_name(name);
	CLEANUP(freep) char *both = alloc_printf("%s/%s", pod, name);
	return container_take_name(both);
}

/* podman's list of all containers. */
static char *container_name_podman(const struct json_node *root, const char *id)
{
	for (const struct json_node *one = json_node_first(root); one; one = json_node_next(one)) {
		const char *own = json_node_text(json_node_get(one, "id"));
		const struct json_node *names = json_node_get(one, "names");
		if (own && strcmp(own, id) == 0 && names)
			return container_take_name(json_node_text(json_node_first(names)));
	}
	return NULL;
}

/* Where a description is found: a folder, then the id if there is one, then a file. */
struct container_place {
	const char *folder, *file;
	bool is_by_id;
	char *(*name)(const struct json_node *root, const char *id);
};

static const struct container_place places[] = {
	{ "/var/lib/docker/containers", "config.v2.json", true, container_name_docker },
	{ "/var/lib/containers/storage/overlay-containers", "userdata/config.json", true,
	  container_name_oci },
	{ "/var/lib/containers/storage/overlay-containers", "containers.json", false, container_name_podman },
	{ "/run/containerd/io.containerd.runtime.v2.task/k8s.io", "config.json", true, container_name_oci },
	{ "/run/containerd/io.containerd.runtime.v2.task/default", "config.json", true, container_name_oci },
};

static char *container_name_at(const char *root, const struct container_place *place, const char *id)
{
	CLEANUP(freep)
	char *path = alloc_printf("%s%s/%s%s%s", root, place->folder, place->is_by_id ? id : "",
				  place->is_by_id ? "/" : "", place->file);
	struct json_node *tree = container_parse(path);
	char *name = tree ? place->name(tree, id) : NULL;

	json_tree_free(tree);
	return name;
}

bool container_find(const char *root, pid_t pid, struct container *ret)
{
	CLEANUP(freep) char *path = alloc_printf("%s/proc/%d/cgroup", root, pid);
	size_t len = 0;
	CLEANUP(freep) char *cgroup = container_read(path, &len);

	*ret = (struct container){ 0 };
	if (!cgroup || !container_id_in(cgroup, ret->id))
		return false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !ret->name; i++)
		ret->name = container_name_at(root, &places[i], ret->id);
	return true;
}

void container_done(struct container *container)
{
	free(container->name);
	container->name = NULL;
}
