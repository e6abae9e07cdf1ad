/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_document: the common source of exports that contain the whole profile.
 */
#pragma once

#include "report/derived.h"
#include "report/export/exporter.h"
#include "report/tree/document.h"
#include "report/tree/scope_calls.h"

struct export_document {
	struct document document;
	struct scope_calls calls; /* taken from the tree */
	struct derived derived;
};

/* -errno if a formula cannot be evaluated; then there is nothing to release. */
int export_document_open(struct export_document *it, const struct export_input *input,
			 const struct export_options *options, struct diag *diag);
void export_document_done(struct export_document *it);
