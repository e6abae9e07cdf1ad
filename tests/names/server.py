#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A debuginfod server for one folder, on the loopback: serves FOLDER/BUILD-ID.debug as /buildid/BUILD-ID/debuginfo.

usage: server.py FOLDER PORT-FILE      writes the port it listens on to PORT-FILE

If the folder has ID.stall instead, requests for that build-id are never answered; ID.slow is sent over two seconds.
"""
import http.server
import os
import sys
import time

FOLDER = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        words = self.path.strip("/").split("/")
        path = os.path.join(FOLDER, os.path.basename(words[1])) if len(words) == 3 and words[2] == "debuginfo" else ""
        with open(os.path.join(FOLDER, "asked"), "a") as log:
            log.write(self.path + "\n")
        if path and os.path.exists(path + ".stall"):
            time.sleep(60)
        slow = path and os.path.exists(path + ".slow")
        found = path + (".slow" if slow else ".debug")
        if not path or not os.path.exists(found):
            self.send_error(404)
            return
        with open(found, "rb") as file:
            data = file.read()
        self.send_response(200)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        step = len(data) // 10 + 1 if slow else len(data)
        for at in range(0, len(data), step):
            self.wfile.write(data[at:at + step])
            self.wfile.flush()
            if slow:
                time.sleep(0.2)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
server.daemon_threads = True
with open(sys.argv[2] + ".new", "w") as out:
    out.write(str(server.server_port))
os.rename(sys.argv[2] + ".new", sys.argv[2])
server.serve_forever()
