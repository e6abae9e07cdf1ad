#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# waits_exports: every export format has the metrics of waits, with the same sums as the report.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "only root can record waits"
run 0 "$CPPROF" record -q --wall -o waits.data -- "$BUILD/tests/e2e/waits" 300
for metric in off-cpu waits wall; do
	"$CPPROF" report --view tree --metric $metric --format json waits.data >$metric.report || fail "no report by $metric"
	for format in folded speedscope firefox callgrind json ndjson pprof otlp html top; do
		run 0 "$CPPROF" export -f $format --metric $metric --no-totals -o $metric.$format waits.data
	done
done
python3 - <<-'PYTHON' || fail "an export differs from the report"
	import base64, gzip, json, re, zlib

	def varint(data, at):
	    value = shift = 0
	    while True:
	        byte = data[at]
	        at += 1
	        value |= (byte & 127) << shift
	        shift += 7
	        if byte < 128:
	            return value, at

	def fields(data):
	    at = 0
	    while at < len(data):
	        key, at = varint(data, at)
	        if key & 7 == 0:
	            value, at = varint(data, at)
	        else:
	            assert key & 7 == 2, key
	            size, at = varint(data, at)
	            value, at = data[at:at + size], at + size
	        yield key >> 3, value

	def numbers(packed):
	    at, found = 0, []
	    while at < len(packed):
	        value, at = varint(packed, at)
	        found.append(value)
	    return found

	def pprof(data):
	    data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
	    strings = [value.decode() for field, value in fields(data) if field == 6]
	    types = [strings[dict(fields(value))[1]] for field, value in fields(data) if field == 1]
	    values = [numbers(v) for field, value in fields(data) if field == 2 for f, v in fields(value) if f == 2]
	    return {name: sum(value[i] for value in values) for i, name in enumerate(types)}

	def html_metrics(text):
	    block = re.search(r'id="block-meta"[^>]*>([^<]*)<', text)[1]
	    return zlib.decompress(base64.b64decode(block), -15).decode()

	for metric in ["off-cpu", "waits", "wall"]:
	    total = json.load(open(metric + ".report"))["total"]
	    speedscope = [p for p in json.load(open(metric + ".speedscope"))["profiles"] if p["name"].startswith(metric + ": all threads")]
	    callgrind = [line.split() for line in open(metric + ".callgrind")]
	    events = next(words[1:] for words in callgrind if words and words[0] == "events:")
	    sums = next(words[1:] for words in callgrind if words and words[0] == "totals:")
	    firefox = sum(sum(t["samples"]["weight"]) for t in json.load(open(metric + ".firefox"))["threads"])
	    found = {
	        "folded": sum(int(line.rsplit(" ", 1)[1]) for line in open(metric + ".folded")),
	        "speedscope": sum(speedscope[0]["weights"]),
	        "callgrind": int(dict(zip(events, sums))[metric.replace("-", "_")]),
	        "firefox": round(firefox * (1 if metric == "waits" else 1e6)),
	        "pprof": pprof(open(metric + ".pprof", "rb").read())[metric],
	        "top": max(row["total"] for row in json.load(open(metric + ".top")) if row["metric"] == metric),
	    }
	    print(metric, total, found)
	    # `top` has no row for the total, and times in milliseconds are rounded.
	    assert total > 0 and all(abs(value - total) <= 1000 for name, value in found.items() if name != "top")
	    assert 0.2 * total <= found["top"] <= total
	    assert f'"{metric}"' in html_metrics(open(metric + ".html").read()) and metric.encode() in open(metric + ".otlp", "rb").read()
	    lines = [json.loads(line) for line in open(metric + ".ndjson")]
	    document = json.load(open(metric + ".json"))
	    assert any(m["name"] == metric for m in document["metrics"]) and any(metric in json.dumps(line) for line in lines)
	domains = {m["name"]: m["domain"] for m in document["metrics"]}
	print(domains)
	assert domains["cpu-clock"] == "oncpu" and domains["wall"] == "wall"
	assert all(domains[name] == "offcpu" for name in domains if name in ("off-cpu", "waits", "runnable") or name.startswith("woken by"))
PYTHON
