#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server with the push endpoints of Pyroscope, Parca and the OpenTelemetry collector, which checks the requests.

usage: push_server.py PORT_FILE FOLDER [FAILURES]

Writes its port to PORT_FILE; every valid request is logged as a line of FOLDER/requests, and its profile stored in FOLDER/N.*.
The first FAILURES requests are answered with 503, unknown paths with 404, invalid bodies with 400."""
import base64
import gzip
import http.server
import json
import os
import sys
import urllib.parse

port_file, folder = sys.argv[1:3]
failures = int(sys.argv[3]) if len(sys.argv) > 3 else 0
os.makedirs(folder, exist_ok=True)
count = 0


def labels_of(pairs):
    labels = {pair["name"]: pair["value"] for pair in pairs}
    assert labels["__name__"] == "process_cpu", labels
    return labels["service_name"], labels["host"]


def take_ingest(query, body, kind):
    assert kind == "application/octet-stream", kind
    values = dict(urllib.parse.parse_qsl(query, strict_parsing=True))
    assert values["format"] == "pprof" and values["spyName"] == "cpprof", values
    start, end = int(values["from"]), int(values["until"])
    assert 0 < start <= end, values
    name, host = values["name"].rstrip("}").split("{host=")
    return name, host, "pprof", gzip.decompress(body)


def take_series(body, kind, is_parca):
    assert kind == "application/json", kind
    (series,) = json.loads(body)["series"]
    (sample,) = series["samples"]
    labels = series["labels"]["labels"] if is_parca else series["labels"]
    name, host = labels_of(labels)
    return name, host, "pprof", gzip.decompress(base64.b64decode(sample["rawProfile"], validate=True))


def take(path, query, body, kind):
    if path == "/ingest":
        return take_ingest(query, body, kind)
    if path == "/push.v1.PusherService/Push":
        return take_series(body, kind, False)
    if path == "/api/profiles/writeraw":
        return take_series(body, kind, True)
    assert kind == "application/x-protobuf", kind
    return "-", "-", "otlp", body


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global count, failures
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if failures > 0:
            failures -= 1
            return self.answer(503)
        if path not in ("/ingest", "/push.v1.PusherService/Push", "/api/profiles/writeraw", "/v1development/profiles"):
            return self.answer(404)
        try:
            name, host, kind, profile = take(path, query, body, self.headers["Content-Type"])
            assert host in ("-", os.uname().nodename), host
        except Exception as error:
            print("refused:", path, repr(error), flush=True)
            return self.answer(400)
        count += 1
        open(f"{folder}/{count}.{kind}", "wb").write(profile)
        with open(f"{folder}/requests", "a") as to:
            print(count, path, name, self.headers.get("X-Scope-OrgID", "-"), file=to)
        return self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *ignored):
        pass


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as to:
    print(server.server_port, file=to)
os.rename(port_file + ".new", port_file)
server.serve_forever()
