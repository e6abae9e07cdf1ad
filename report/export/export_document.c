/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export_document.h"

int export_document_open(struct export_document *it, const struct export_input *input,
			 const struct export_options *options, struct diag *diag)
{
	int error = derived_make(&it->derived, input->profile, options->derived, options->n_derived, diag);

	if (error)
		return error;
	scope_calls_take(input->tree, &it->calls);
	document_init(&it->document, input->profile, input->tree);
	it->document.seen = &it->calls;
	return 0;
}

void export_document_done(struct export_document *it)
{
	document_done(&it->document);
	scope_calls_done(&it->calls);
	derived_done(&it->derived);
}
