/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/cleanup.h"
#include "report/export/firefox.h"
#include "report/label.h"
#include "report/limit.h"

#define FORMAT_VERSION 60

static void write_category(struct json *json, const char *name, const char *color)
{
	json_object(json);
	json_text_of(json, "name", name);
	json_text_of(json, "color", color);
	json_name(json, "subcategories");
	json_array(json);
	json_text(json, "Other");
	json_end_array(json);
	json_end_object(json);
}

static void write_marker_schema(struct json *json)
{
	json_name(json, "markerSchema");
	json_array(json);
	json_object(json);
	json_text_of(json, "name", "cpprof-lost");
	json_name(json, "display");
	json_array(json);
	json_text(json, "marker-chart");
	json_text(json, "marker-table");
	json_end_array(json);
	json_name(json, "fields");
	json_array(json);
	json_object(json);
	json_text_of(json, "key", "samples");
	json_text_of(json, "label", "samples lost by the kernel");
	json_text_of(json, "format", "integer");
	json_end_object(json);
	json_end_array(json);
	json_end_object(json);
	json_end_array(json);
}

/* Milliseconds between samples, as requested. */
static double firefox_head_interval(const struct profile *profile)
{
	const struct profile_event *event = profile->events.n ? &profile->events.at[0] : NULL;

	if (event && event->frequency)
		return 1000 / (double)event->frequency;
	if (event && event->period && strcmp(profile_text(profile, event->unit), "ns") == 0)
		return (double)event->period / 1e6;
	return 1;
}

static void write_lists(struct json *json)
{
	json_name(json, "categories");
	json_array(json);
	write_category(json, "Other", "grey");
	write_category(json, "User", "yellow");
	write_category(json, "Kernel", "orange");
	json_end_array(json);
	write_marker_schema(json);
	json_name(json, "sampleUnits");
	json_object(json);
	json_text_of(json, "time", "ms");
	json_text_of(json, "eventDelay", "ms");
	json_text_of(json, "threadCPUDelta", "ns");
	json_end_object(json);
}

/* The viewer's description of the origin is used for what users must know about the profile. */
static void write_origin(struct json *json, const struct document *document)
{
	CLEANUP(text_done) struct text origin = { 0 }, note = { 0 };

	text_printf(&origin,
		    "cpprof: aggregated; samples are placed end to end, not at the time they were taken");
	limit_note(document->tree, document->profile, &note);
	if (note.len)
		text_printf(&origin, "; %s", note.at);
	json_text_of(json, "importedFrom", origin.at);
}

static void write_meta(struct json *json, const struct document *document)
{
	const struct profile *profile = document->profile;
	CLEANUP(text_done) struct text title = { 0 };

	json_name(json, "meta");
	json_object(json);
	json_number_of(json, "interval", firefox_head_interval(profile));
	json_uint_of(json, "startTime", profile->run.start_unix_ns / 1000000);
	json_uint_of(json, "processType", 0);
	label_run(profile, &title);
	json_text_of(json, "product", title.len ? title.at : "cpprof");
	json_uint_of(json, "stackwalk", 1);
	json_uint_of(json, "version", 29);
	json_uint_of(json, "preprocessedProfileVersion", FORMAT_VERSION);
	json_bool_of(json, "symbolicated", true);
	write_origin(json, document);
	json_bool_of(json, "usesOnlyOneStackType", true);
	json_bool_of(json, "sourceCodeIsNotOnSearchfox", true);
	write_lists(json);
	json_end_object(json);
}

/* The build-id as a GUID, whose first three fields have the opposite byte order, and an age of 0. */
static void format_breakpad(const struct build_id *id, char text[34])
{
	static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < sizeof(order); i++)
		snprintf(text + 2 * i, 3, "%02X", order[i] < id->len ? id->bytes[order[i]] : 0);
	memcpy(text + 32, "0", 2);
}

static void write_lib(struct json *json, const struct profile *profile, image_id image)
{
	const struct profile_image *i = &profile->images.at[image];
	const char *name = profile_image_name(profile, image), *path = profile_text(profile, i->path);
	char build_id[2 * BUILD_ID_MAX + 1], breakpad[34];

	build_id_format(&i->build_id, build_id);
	format_breakpad(&i->build_id, breakpad);
	json_object(json);
	json_text_of(json, "arch", profile_text(profile, profile->run.arch));
	json_text_of(json, "name", name);
	json_text_of(json, "path", path);
	json_text_of(json, "debugName", name);
	json_text_of(json, "debugPath", path);
	json_text_of(json, "breakpadId", breakpad);
	json_text_of(json, "codeId", i->build_id.len ? build_id : NULL);
	json_end_object(json);
}

void firefox_write_head(struct firefox *firefox)
{
	const struct profile *profile = firefox->document->profile;

	write_meta(&firefox->json, firefox->document);
	json_name(&firefox->json, "libs");
	json_array(&firefox->json);
	for (image_id i = 0; i < profile->images.n; i++)
		write_lib(&firefox->json, profile, i);
	json_end_array(&firefox->json);
}
