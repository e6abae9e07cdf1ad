/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/code_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int code_file_open(struct code_file *file, const char *path, struct diag *diag)
{
	image_id id;

	memset(file, 0, sizeof(*file));
	file->images = images_new();
	int error = images_open(file->images, path, &id, diag);
	if (error < 0)
		return error;
	file->image = images_get(file->images, id);
	file->isa = isa_for_machine(file->image->elf_machine);
	if (!file->isa) {
		diag_set(diag, -ENOEXEC, "cannot analyse '%s'", path);
		diag_why(diag, "its code is neither x86-64 nor AArch64");
		return -ENOEXEC;
	}
	file->symbols = symbols_read(file->image);
	file->frames = frames_read(file->image);
	return 0;
}

void code_file_close(struct code_file *file)
{
	symbols_free(file->symbols);
	frames_free(file->frames);
	images_free(file->images);
}

uint32_t code_file_function(const struct code_file *file, struct functions *functions, const char *name)
{
	char *end;
	uint64_t vaddr = strtoull(name, &end, 16);

	for (size_t i = 0; i < file->symbols->n; i++)
		if (strcmp(file->symbols->at[i].name, name) == 0)
			return functions_index(functions, file->symbols->at[i].vaddr);
	return *end ? FUNCTION_NONE : functions_index(functions, vaddr);
}
