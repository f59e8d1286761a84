#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""
rdma_core.py - rdma-core's own tests on the device that is there, a line for each: "ok NAME", "skip NAME: why", "not ok NAME: why"

usage: rdma_core.py DIRECTORY ADDRESS, where DIRECTORY holds their package `tests`, and ADDRESS is one that the device reaches itself by. Those
for devices of one maker (mlx5, EFA), and for what a network card or a graphics card has to do (raw packets, CUDA), are left out.
"""
import importlib
import json
import os
import sys
import unittest

FOREIGN = ("mlx5", "efa", "cuda", "flow", "rss", "tag_matching")


def modules(directory):
    names = sorted(os.listdir(os.path.join(directory, "tests")))
    stems = [name[:-3] for name in names if name.startswith("test_") and name.endswith(".py")]
    return [stem for stem in stems if not any(word in stem for word in FOREIGN)]


def suite_of(directory):
    # Their package loads all of itself when it is imported, the foreign ones too: a package of the same name does as well.
    tests = os.path.join(directory, "tests")
    sys.path[:0] = [directory, tests]
    package = type(sys)("tests")
    package.__path__ = [tests]
    sys.modules["tests"] = package
    importlib.import_module("args_parser").parser.parse_args()
    loaded = [importlib.import_module("tests." + stem) for stem in modules(directory)]
    return unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromModule(module) for module in loaded)


def give_address(address):
    """The address is that of a network interface behind a card's bus, which a device in software has not."""
    base = importlib.import_module("tests.base")

    def get_ip_mac(self, dev, port, index):
        self.args.append([dev, port, index, address, None])

    base.RDMATestCase._get_ip_mac = get_ip_mac


def skip_datagrams_of_cm():
    """This one test does not ask whether the device has datagrams."""
    cmid, enums, errors = (importlib.import_module("pyverbs." + name) for name in ("cmid", "cm_enums", "pyverbs_error"))
    case = importlib.import_module("tests.test_rdmacm").CMTestCase
    try:
        cmid.CMID(creator=cmid.CMEventChannel(), port_space=enums.RDMA_PS_UDP)
    except errors.PyverbsRDMAError as error:
        reason = f"Datagrams are not supported ({error})"
        case.test_rdmacm_async_udp_traffic = lambda self: self.skipTest(reason)


class Lines(unittest.TestResult):
    passed = 0

    def say(self, what, test, why=""):
        name = ".".join(test.id().split(".")[1:])
        why = " ".join(str(why).split())
        print(what, name + (": " + why if why else ""), flush=True)

    def addSuccess(self, test):
        self.passed += 1
        self.say("ok", test)

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.say("skip", test, reason)

    def addError(self, test, err):
        super().addError(test, err)
        self.say("not ok", test, err[1])

    addFailure = addError


def main():
    directory, address = sys.argv[1:3]
    del sys.argv[1:]
    suite = suite_of(directory)
    give_address(address)
    skip_datagrams_of_cm()
    lines = Lines()
    suite.run(lines)
    print(f"rdma_core: {lines.passed} passed, {len(lines.errors)} failed, {len(lines.skipped)} skipped")
    return 1 if lines.errors else 0


if __name__ == "__main__":
    sys.exit(main())
