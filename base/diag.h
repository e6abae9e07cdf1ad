/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diag: an error message for the user.
 *
 * A function that can fail returns a negative errno and fills one struct diag; only cmd/ prints it. `what`
 * names the action and its object, `why` the cause, `hint` what to try next.
 */
#pragma once

struct diag {
	int error; /* negative errno, 0 = nothing happened */
	char what[512];
	char why[256];
	char hint[512];
};

/* "what: strerror(error)". Returns error, so that `return diag_set(...)` reads well. diag may be NULL. */
__attribute__((format(printf, 3, 4))) int diag_set(struct diag *diag, int error, const char *what, ...);

/* Replaces the text of the errno by a more specific cause. */
__attribute__((format(printf, 2, 3))) void diag_why(struct diag *diag, const char *why, ...);

/* Adds what to try next. */
__attribute__((format(printf, 2, 3))) void diag_hint(struct diag *diag, const char *hint, ...);
