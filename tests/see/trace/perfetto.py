#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""perfetto - a decoder of timelines in Perfetto's format, and what holds for each: perfetto.py FILE...

It reads packets as protos/perfetto/trace of google/perfetto describes them, in the order of their times, as the viewer
does. Without a fault it prints how much is in the file.
"""
import collections
import struct
import sys

CLEARED, NEEDS_STATE = 1, 2
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
NAMES, PLACES, TEXTS = 2, 4, 29

Slice = collections.namedtuple("Slice", "track begun ended name place annotations begins ends above")


class Fault(Exception):
    pass


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise Fault("a number is cut")
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number of the field, value): integers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 1:
            value, at = struct.unpack_from("<Q", data, at)[0], at + 8
        elif tag & 7 == 2:
            size, at = varint(data, at)
            if at + size > len(data):
                raise Fault(f"field {tag >> 3} is cut")
            value, at = data[at:at + size], at + size
        else:
            raise Fault(f"field {tag >> 3} has the type {tag & 7}")
        yield tag >> 3, value


def message(data):
    """Fields of which there is one each."""
    return dict(fields(data))


def repeated(pairs, number):
    return [value for field, value in pairs if field == number]


class Names:
    """The names of a sequence of packets."""

    def __init__(self):
        self.texts = collections.defaultdict(dict)

    def take(self, data):
        for kind, value in fields(data):
            entry = message(value)
            if kind == PLACES:
                text = entry[2].decode(), entry[3].decode(), entry.get(4, 0)
            else:
                text = entry[2].decode()
            if self.texts[kind].setdefault(entry[1], text) != text:
                raise Fault(f"the name {entry[1]} of kind {kind} has two meanings")

    def get(self, kind, number):
        if number not in self.texts[kind]:
            raise Fault(f"there is no name {number} of kind {kind}")
        return self.texts[kind][number]


class Trace:
    """slices, marks, counters [(time, value)] by track, and tracks: {number: (parent, name)}."""

    def __init__(self, data):
        self.tracks, self.slices, self.marks = {}, [], []
        self.counters = collections.defaultdict(list)
        self.names = {}
        self.writer = {}
        self.open = collections.defaultdict(list)
        self.last = {}
        events = []
        for number, value in fields(data):
            if number != 1:
                raise Fault(f"the file has the field {number}")
            self.packet(value, events)
        for time, pairs, sequence in sorted(events, key=lambda one: one[0]):
            self.event(time, pairs, sequence)
        for track, stack in self.open.items():
            if stack:
                raise Fault(f"{len(stack)} slices of {self.tracks[track]} do not end")

    def packet(self, data, events):
        packet = message(data)
        sequence = packet[10]
        if packet[13] & CLEARED:
            self.names[sequence] = Names()
        if packet[13] & NEEDS_STATE and sequence not in self.names:
            raise Fault(f"the sequence {sequence} has no state")
        if 12 in packet:
            self.names[sequence].take(packet[12])
        if 60 in packet:
            self.describe(message(packet[60]))
        if 11 in packet:
            event = list(fields(packet[11]))
            self.check_order(packet[8], dict(event), sequence)
            events.append((packet[8], event, sequence))

    def check_order(self, time, event, sequence):
        """A track's slices come from one sequence, in the order of time: so no order of files changes how they nest."""
        track = event[11]
        if event[9] == INSTANT:
            return
        if self.writer.setdefault(track, sequence) != sequence:
            raise Fault(f"two sequences write to {self.tracks.get(track)}")
        if time < self.last.get(track, 0):
            raise Fault(f"an event of {self.tracks.get(track)} comes too late")
        self.last[track] = time

    def describe(self, track):
        name = track.get(2, b"").decode()
        if 3 in track:
            name = message(track[3])[6].decode()
        elif 4 in track:
            name = message(track[4])[5].decode()
        described = track.get(5, 0), name
        if described[0] and described[0] not in self.tracks:
            raise Fault(f"{described} has no parent")
        if self.tracks.setdefault(track[1], described) != described:
            raise Fault(f"the track {track[1]} is {described} and {self.tracks[track[1]]}")

    def event(self, time, pairs, sequence):
        event = dict(pairs)
        track, kind = event[11], event[9]
        if track not in self.tracks:
            raise Fault(f"the track {track} is not described")
        stack = self.open[track]
        if kind == COUNTER:
            self.counters[track].append((time, event[30]))
        elif kind == INSTANT:
            self.marks.append((track, time, event[23].decode()))
        elif kind == BEGIN:
            stack.append((time, event, repeated(pairs, 4), repeated(pairs, 47), repeated(pairs, 48), sequence))
        elif not stack:
            raise Fault(f"a slice of {self.tracks[track]} ends twice")
        else:
            self.slices.append(self.slice(track, stack.pop(), time, stack))

    def slice(self, track, begun, ended, above):
        time, event, annotations, begins, ends, sequence = begun
        names = self.names[sequence]
        texts = {}
        for one in map(message, annotations):
            texts[names.get(3, one[1])] = names.get(TEXTS, one[17]) if 17 in one else one.get(3, one.get(4))
        place = names.get(PLACES, event[34]) if 34 in event else None
        parent = above[-1] if above else None
        if parent and parent[0] > time:
            raise Fault("a slice begins before the one above it")
        return Slice(track, time, ended, names.get(NAMES, event[10]), place, texts, begins, ends, len(above))

    # ---- ranks ----

    def rank(self, track):
        """The rank whose track it is."""
        parent = self.tracks[track][0] or track
        return int(self.tracks[parent][1].split()[1])

    def calls(self, rank=None):
        return [one for one in self.slices if not one.begins and not one.ends and rank in (None, self.rank(one.track))]

    def arrows(self):
        """[(slice at the begin, slice at the end)]"""
        begins, ends = {}, {}
        for one in self.slices:
            for number in one.begins:
                if begins.setdefault(number, one) != one:
                    raise Fault(f"the arrow {number} begins twice")
            for number in one.ends:
                if ends.setdefault(number, one) != one:
                    raise Fault(f"the arrow {number} ends twice")
        if begins.keys() != ends.keys():
            raise Fault(f"arrows without an end, or a begin: {begins.keys() ^ ends.keys()}")
        return [(begins[number], ends[number]) for number in begins]


def check_arrows(trace):
    """Each arrow has two slices of its own. What begins arrows is related to no other slice, so that nothing chains."""
    of_begins = {one.track for one in trace.slices if one.begins}
    for one in trace.slices:
        if len(one.begins) + len(one.ends) > 1:
            raise Fault(f"{one} has two arrows")
        if one.track in of_begins and not one.begins:
            raise Fault(f"{one} is on a track of begins")
        if (one.begins or one.ends) and one.ended - one.begun != 1:
            raise Fault(f"{one} does not last for 1 ns")
        if one.begins and one.above:
            raise Fault(f"{one} is in another slice")
        if one.ends and one.above != 1:
            raise Fault(f"{one} is in no call")
    for begin, end in trace.arrows():
        if begin.begun >= end.begun:
            raise Fault(f"{begin} is not before {end}")
        if trace.rank(begin.track) == trace.rank(end.track):
            raise Fault(f"{begin} is of the rank that waits")
        if begin.annotations["rank"] != trace.rank(end.track) or end.annotations["rank"] != trace.rank(begin.track):
            raise Fault(f"{begin} and {end} name other ranks")
        if end.name != begin.name + " seen" or begin.annotations.get("window") != end.annotations.get("window"):
            raise Fault(f"{begin} and {end} are of two calls")


def check_counters(trace):
    """The bytes of a rank's calls."""
    for track, values in trace.counters.items():
        moved = sum(call.annotations.get("bytes", 0) for call in trace.calls(trace.rank(track)))
        if [value for _, value in values] != sorted(value for _, value in values) or values[-1][1] != moved:
            raise Fault(f"the counter of {trace.tracks[track]} ends at {values[-1]}, not {moved}")


def read(path):
    with open(path, "rb") as file:
        trace = Trace(file.read())
    check_arrows(trace)
    check_counters(trace)
    return trace


def main(*paths):
    for path in paths:
        try:
            trace = read(path)
        except Fault as fault:
            print(f"{path}: {fault}")
            return 1
        ranks = {trace.rank(one.track) for one in trace.calls()}
        print(f"{path}: ranks {sorted(ranks)}, {len(trace.calls())} calls, {len(trace.arrows())} arrows, marks {trace.marks}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
