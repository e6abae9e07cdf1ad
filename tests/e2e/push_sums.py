#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what push_server.py has received: a line with the number of samples for each service, and a total for each format.

usage: push_sums.py FOLDER"""
import collections
import sys

folder = sys.argv[1]


def fields(data):
    """Number and value of every field of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            n = varint()
            yield key >> 3, data[at:at + n]
            at += n
        else:
            n = {1: 8, 5: 4}[key & 7]
            yield key >> 3, data[at:at + n]
            at += n


def unpack(data):
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            values.append(value)
            value = shift = 0
    return values


def of(message, number):
    return [value for field, value in fields(message) if field == number]


def pprof_samples(data):
    return sum(unpack(of(sample, 2)[0])[0] for sample in of(data, 2))


def otlp_samples(data):
    """The service name, and the sum over the first profile, whose values are sample counts."""
    (resource,) = of(data, 1)
    attributes = [(of(pair, 1)[0].decode(), of(of(pair, 2)[0], 1)[0].decode()) for pair in of(of(resource, 1)[0], 1)]
    profile = of(of(resource, 2)[0], 2)[0]
    return dict(attributes)["service.name"], sum(sum(unpack(of(sample, 4)[0])) for sample in of(profile, 2))


sums = {"pprof": collections.Counter(), "otlp": collections.Counter()}
for line in open(folder + "/requests"):
    number, path, name, _ = line.split(" ")
    if path.endswith("/profiles") and "v1development" in path:
        service, n = otlp_samples(open(f"{folder}/{number}.otlp", "rb").read())
        sums["otlp"][service] += n
    else:
        sums["pprof"][name] += pprof_samples(open(f"{folder}/{number}.pprof", "rb").read())
for kind, by_name in sums.items():
    for name, n in sorted(by_name.items()):
        print(kind, name, n)
    print(kind, "total", sum(by_name.values()))
