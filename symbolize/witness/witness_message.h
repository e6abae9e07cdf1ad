/* SPDX-License-Identifier: Apache-2.0 */
/*
 * witness_message: what the child of a witness sends. Each message starts with a byte that says which it is.
 */
#pragma once

enum witness_message {
	MESSAGE_STRING = 1, /* u32 length, bytes; ids count from 0 */
	/* u32 address, u32 frames; each u32 function, u32 file, u32 line, u8 is_inlined, u8 is_primary */
	MESSAGE_ANSWER = 2,
	MESSAGE_VERSION = 4, /* u32 string */
	MESSAGE_END = 3,     /* all was read */
};
