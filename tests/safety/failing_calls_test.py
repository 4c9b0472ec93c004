"""One call fails: of memory, of writing, renaming, mapping, opening. Whatever it was for, the program gives
the right answer or a sentence with exit code 1, and its output file is whole, the old one or the new one.

In the tests some places of each command are tried; `--rounds 0` tries every one."""

import gzip
import json
import os
import random
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import campaign
import helpers

LIBRARY = os.path.join(campaign.BUILD, "bin", "failing_calls.so")
OLD = "what was here before\n"
# Sentences of libraries that end the program themselves.
OTHERS = ("libgomp: ", "error while loading shared libraries", "Memory allocation failed",
          "Allocating cleared memory failed")

COMMANDS = {
    "dense npy": ["select", "x.npy", "-k", "3", "-o", "out.csv"],
    "fwsr": ["select", "x.npy", "-k", "3", *helpers.FWSR, "-o", "out.csv"],
    "csv": ["select", "x.csv", "-k", "3", "-o", "out.csv"],
    "csv.gz, classes": ["select", "x.csv.gz", "--labels", "y.txt", "--per-class", "-k", "2", "-o", "out.csv"],
    "npz": ["select", "x.npz", "-k", "3", "-o", "out.csv"],
    "csr": ["select", "x.svm", "-k", "3", "-o", "out.csv"],
    "kernel": ["select", "x.npy", "-k", "3", "--method", "k-fwsr", "-o", "out.json"],
    "factor": ["select", "x.npy", "-k", "3", "--rank", "20", "-o", "out.json"],
    "sweep": ["sweep", "x.npy", "-k", "3", "--alphas", "auto,2", "-o", "out.csv"],
    "compare": ["compare", "x.npy", "-k", "3", "--methods", "fwsr,kmedoids", "--json", "-o", "out.csv"],
    "inspect": ["inspect", "x.npy", "--json"],
    "generate": ["generate", "blobs", "--clusters", "2", "--points", "40", "--dimensions", "6", "-o", "out.npy"],
    "streamed": ["select", "x.npy", "-k", "3", *helpers.FWSR, "--memory", "17M", "-o", "out.csv"],
    "codes": ["select", "x.npy", "-k", "3", "--codes", "c.npy", "--assignment", "a.csv", "-o", "out.csv"],
}
OUTPUTS = ("out.csv", "out.json", "out.npy", "c.npy", "a.csv")


def npz_of(folder):
    import zipfile
    with zipfile.ZipFile(os.path.join(folder, "x.npz"), "w", zipfile.ZIP_DEFLATED) as file:
        file.write(os.path.join(folder, "x.npy"), "x.npy")


def varies(name):
    """Seconds and bytes differ from run to run."""
    return any(word in name for word in ("second", "peak", "memory", "bytes"))


def steady(value):
    if isinstance(value, dict):
        return {key: steady(v) for key, v in value.items() if not varies(key)}
    return [steady(v) for v in value] if isinstance(value, list) else value


def without_times(content):
    """What every right run writes."""
    text = content.decode("utf-8", "surrogateescape")
    try:
        return steady(json.loads(text))
    except ValueError:
        rows = [line.split(",") for line in text.split("\n")]
        kept = [i for i, name in enumerate(rows[0]) if not varies(name)]
        return [[row[i] for i in kept if i < len(row)] for row in rows]


@unittest.skipIf(campaign.SANITIZED, "sanitizers replace the functions that are to fail")
@unittest.skipUnless(os.path.exists(LIBRARY), "the library of failing calls is not built")
class FailingCalls(helpers.Case):
    def setUp(self):
        super().setUp()
        rows = helpers.random_rows(60, 5)
        self.write("x.npy", helpers.npy_bytes(rows))
        text = "".join(",".join(map(repr, row)) + "\n" for row in rows)
        self.write("x.csv", text)
        self.write("x.csv.gz", gzip.compress(text.encode()))
        self.write("x.svm", "".join(f"{i % 2} 1:{row[0]} {2 + i % 4}:{row[1]}\n" for i, row in enumerate(rows)))
        self.write("y.txt", "ab\ncd\n" * 30)
        npz_of(self.folder)
        self.failures, self.tried = [], 0

    def reset(self):
        for name in os.listdir(self.folder):
            if name not in ("x.npy", "x.csv", "x.csv.gz", "x.svm", "x.npz", "y.txt"):
                os.remove(self.path(name))

    def run_failing(self, words, call, at, timeout=300):
        """The outcome, and the outputs; before, an old file stands wherever the command writes."""
        self.reset()
        for name in OUTPUTS:
            if name in words:
                self.write(name, OLD)
        env = self.environment(LD_PRELOAD=LIBRARY, FAILING_CALL=call, FAILING_AT=str(at),
                               FAILING_COUNT=self.path("count"))
        done = subprocess.run([helpers.PROGRAM, *words, "--threads", "2"] if words[0] != "generate" else
                              [helpers.PROGRAM, *words], cwd=self.folder, env=env, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=timeout)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"), self.outputs()

    def outputs(self):
        found = {}
        for name in OUTPUTS:
            if os.path.exists(self.path(name)):
                with open(self.path(name), "rb") as file:
                    found[name] = file.read()
        return found

    def count(self, words, call):
        code, out, error, outputs = self.run_failing(words, call, 0)
        self.assertEqual(code, 0, error)
        with open(self.path("count")) as file:
            return int(file.read()), out, outputs

    def look_at(self, name, words, call, at, right_out, right):
        self.tried += 1
        try:
            code, out, error, outputs = self.run_failing(words, call, at)
        except subprocess.TimeoutExpired:
            self.failures.append(f"{name}, {call} {at}: hangs")
            return
        where = f"{name}, {call} {at}: exit {code}, {error[-300:]!r}"
        if code == 0:
            for file, content in right.items():
                if without_times(outputs.get(file, b"")) != without_times(content):
                    self.failures.append(where + f"; {file} differs")
            if without_times(out) != without_times(right_out):
                self.failures.append(where + "; standard output differs")
        elif code in (1, 127) and error.strip():
            if not error.startswith("fwsr: ") and not any(word in error for word in OTHERS):
                self.failures.append(where + "; no sentence")
            for file, content in outputs.items():
                whole = content == OLD.encode() or \
                    without_times(content) == without_times(right[file])
                if not whole:
                    self.failures.append(where + f"; {file} is neither old nor new")
        else:
            self.failures.append(where)
        left = [f for f in os.listdir(self.folder) if ".part" in f or f.startswith(".")]
        if left:
            self.failures.append(where + f"; left behind: {left}")

    def attack(self, call, in_tests):
        bits = random.Random(campaign.seed())
        for name, words in COMMANDS.items():
            total, right_out, right = self.count(words, call)
            places = range(1, total + 1)
            wanted = campaign.rounds(in_tests)
            if 0 < wanted < total:  # 0: all of them
                places = sorted(bits.sample(places, wanted))
            for at in places:
                self.look_at(name, words, call, at, right_out, right)
        print(f"{call}: {self.tried} places, {len(self.failures)} failures", file=sys.stderr)
        self.assertEqual(self.failures, [], f"{len(self.failures)} of {self.tried}:\n" + "\n".join(self.failures[:40]))

    def test_memory(self):
        self.attack("malloc", 25)

    def test_write(self):
        self.attack("write", 4)

    def test_rename(self):
        self.attack("rename", 2)

    def test_mmap(self):
        self.attack("mmap", 4)

    def test_open(self):
        self.attack("open", 3)

    def test_fsync(self):
        self.attack("fsync", 2)


if __name__ == "__main__":
    campaign.main()
