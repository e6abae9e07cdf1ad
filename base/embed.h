/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embed: embeds a file of the source tree into the program.
 *
 *     EMBED(schema, "docs/schema.json")      gives  extern const char schema[], schema_end[];
 *
 * The path is relative to the source tree; name the file in the target's OBJECT_DEPENDS too, so that a
 * change to it rebuilds the object. A zero byte follows, so text files can be used as strings.
 */
#pragma once

#define EMBED(symbol, path)                                                      \
	extern const char symbol[], symbol##_end[];                              \
	__asm__(".pushsection .rodata, \"a\"\n"                                  \
		".global " #symbol ", " #symbol "_end\n"                         \
		".balign 16\n" #symbol ":\n"                                     \
		".incbin \"" CPPROF_SOURCE_DIR "/" path "\"\n" #symbol "_end:\n" \
		".byte 0\n"                                                      \
		".popsection\n")
