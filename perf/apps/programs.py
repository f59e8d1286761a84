# SPDX-License-Identifier: BSD-2-Clause
"""The real programs of perf/apps/plan, and one run of one of them."""
import glob
import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
LAYER = TOP + "/build/bin/oriel-mpi"
LIMIT_S = 300  # ten times what the longest takes with a processor for each rank
STARTERS = {"openmpi": ["mpirun.openmpi"], "mpich": ["mpiexec.hydra"]}
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH"}
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
RESULTS = {
    "result": r"^result: .*",
    "passed": r"^ *[Tt]est passed",
    "energy": r"Total (?:SCF|DFT|MP2|CCSD|CCSD\(T\)) energy:? .*",
}


def version(package):
    found = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    return found.stdout or "none"


def machine():
    cpu = [line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")][:1]
    oriel = subprocess.run(["git", "-C", TOP, "describe", "--always"], capture_output=True, text=True).stdout.strip()
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "cpu": (cpu or [os.uname().machine])[0], "processors": os.cpu_count(),
            "kernel": os.uname().release, "oriel": oriel, "openmpi": version("openmpi-bin"), "mpich": version("mpich")}


class Program:
    """One line of the plan for one MPI."""

    def __init__(self, line, mpi, short):
        columns = [column.strip() for column in line.split("|")]
        self.name, self.mpi, self.ranks = columns[0], mpi, int(columns[1])
        counts = {"openmpi": columns[4], "mpich": columns[5]}
        self.count = columns[3] if short and counts[mpi] != "-" else counts[mpi]
        self.results, self.bar = RESULTS[columns[6]], float(columns[7])
        tests = (glob.glob(f"/usr/lib/*/open-coarrays/{mpi}/bin/OpenCoarrays-*-tests") + ["/no-OpenCoarrays"])[0]
        words = {"N": self.count, "COARRAYS": tests, "HERE": TOP + "/perf/apps", "BIN": TOP + "/build/perf/apps"}
        command = re.sub(r"\b(N|COARRAYS|HERE|BIN)\b", lambda found: words[found[0]], columns[2]).replace("@", mpi)
        self.command = shlex.split(command)
        self.variables = {}
        while "=" in self.command[0]:
            name, value = self.command.pop(0).split("=", 1)
            self.variables[name] = value

    def label(self):
        """Its name as one word, for the lines of the test suite."""
        return "apps_%s_%s_%d" % (self.mpi, re.sub(r"\W+", "_", self.name).strip("_"), self.ranks)

    def missing(self):
        for word in (STARTERS[self.mpi][0], self.command[0]):
            if not shutil.which(word):
                return f"there is no {word}; tests/deps apps installs what the programs need, make apps builds them"
        if not os.path.exists(f"{TOP}/build/lib/mpi/liboriel-mpi-{self.mpi}.so"):
            return f"oriel-mpi was not built for {NAMES[self.mpi]}"
        return ""


class Run:
    """One run of a program, alone or under oriel-mpi."""

    def __init__(self, program, under, counted=False):
        self.program = program
        folder = tempfile.mkdtemp(prefix="oriel-apps.")
        try:
            self.start(folder, under, counted)
            if counted:
                self.read_share(folder + "/share")
        finally:
            shutil.rmtree(folder)

    def start(self, folder, under, counted):
        program = self.program
        command = STARTERS[program.mpi] + (["--oversubscribe"] if program.mpi == "openmpi" and program.ranks > os.cpu_count() else [])
        command = command + ["-n", str(program.ranks)]
        if counted:
            library = f"{TOP}/build/perf/apps/libshare-{program.mpi}.so"
            command += ["env", "LD_PRELOAD=" + library, f"APPS_SHARE={folder}/share"]
        command += ([LAYER] if under else []) + program.command
        variables = dict(os.environ, **AS_ROOT, **program.variables)
        if counted:
            variables["ORIEL_MPI_VERBOSE"] = "1"
        with open(folder + "/output", "w+b") as output:
            begun = time.monotonic()
            self.status = wait(subprocess.Popen(command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=output,
                                                stderr=subprocess.STDOUT, start_new_session=True))
            self.seconds = time.monotonic() - begun
            output.seek(0)
            self.output = output.read().decode(errors="replace")
        self.results = sorted(re.findall(program.results, self.output, re.MULTILINE))

    def read_share(self, file):
        """Of all ranks' lines: the part of their time, and the largest resident set in MiB."""
        lines = [[float(word) for word in line.split()] for line in open(file)] if os.path.exists(file) else []
        self.share = sum(line[0] for line in lines) / max(sum(line[1] for line in lines), 1e-9) if lines else None
        self.resident = max(line[2] for line in lines) / 1024 if lines else None

    def failure(self):
        """Why it is no run, in a few words; empty if it is one."""
        if self.seconds >= LIMIT_S:
            return f"no end within {LIMIT_S} s"
        if self.status != 0 or not self.results:
            return f"fails, status {self.status}" if self.status else "no result"
        return ""

    def left_to_the_mpi(self):
        return re.search(r"is the MPI's own|goes on without Oriel|steps aside", self.output)


def wait(process):
    """Its status, as soon as it ends. What does not end in time is ended, and nothing is left behind."""
    late = threading.Timer(LIMIT_S, end, [process])
    late.start()
    try:
        return process.wait()  # with a limit it would look every 50 ms
    finally:
        late.cancel()
        end(process)


def end(process):
    """End what has not ended: the starter first, which ends its ranks."""
    for sent in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            os.killpg(process.pid, sent)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass


def same(these, those):
    """Lines of results that differ in nothing but the last digits of their numbers."""
    number = r"-?\d+\.?\d*(?:[eE][-+]?\d+)?"
    if [re.sub(number, "", line) for line in these] != [re.sub(number, "", line) for line in those]:
        return False
    pairs = zip(re.findall(number, " ".join(these)), re.findall(number, " ".join(those)))
    return all(abs(float(a) - float(b)) <= 1e-8 * max(1, abs(float(a))) for a, b in pairs)


def are_right(results):
    """Whether a program that knows what is right has found no difference to that."""
    return bool(results) and all(re.search(r"difference 0$", line) for line in results)


def read_plan(only, short):
    programs = []
    for line in open(TOP + "/perf/apps/plan"):
        if line.startswith("#") or not re.search(only, line.split("|")[0]):
            continue
        programs += [Program(line, mpi, short) for mpi in STARTERS]
    return [program for program in programs if program.count != "-"]
