"""The net: what the program answers, recorded, so that work on its inside changes no answer unnoticed.

    net_test.py                  today's answers are those of answers.txt: picks, counts and words exactly, measured
                                 numbers to within rounding (answers.py)
    net_test.py --record         answers.txt anew; its diff then shows what changed
    net_test.py --against OTHER  the same bits of everything but seconds and memory from FWSR_PROGRAM and OTHER, on this
                                 machine; tells how many answers are equal, and how far f and gap are apart elsewhere
    net_test.py --shake          whose picks depend on rounding: data moved in its last digits; these do not belong here
"""

import argparse
import collections
import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, "cli"))

import answers
import cases
import helpers
import points
from helpers import read_npy

PROGRAM = os.path.abspath(shutil.which(helpers.PROGRAM) or helpers.PROGRAM)  # it runs in a folder of its own
RECORDED = os.path.join(HERE, "answers.txt")
SANITIZED = bool(os.environ.get("FWSR_SANITIZE"))
# Sanitizers make a run some ten times slower, and look at the same code in every case of a kind.
EVERY = 3 if SANITIZED else 1
# Seconds and memory in sentences, plans and the last lines of tables.
UNSTEADY_LINE = re.compile(r"^(time|memory) .*\n", re.MULTILINE)
UNSTEADY_WORD = re.compile(r"\b(in|about) [\d.e-]+ s\b")
UNSTEADY_COLUMNS = ("seconds", "memory_bytes", "peak_bytes")

Answer = collections.namedtuple("Answer", "facts near")


class Folder:
    """The data, and a place in which the program runs and writes."""

    def __init__(self, shake=0.0):
        self.path = tempfile.mkdtemp(prefix="fwsr-net-")
        for name, content in points.files(shake).items():
            with open(os.path.join(self.path, name), "wb") as file:
                file.write(content if isinstance(content, bytes) else content.encode())
        self.data = set(os.listdir(self.path))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, True)

    def run(self, program, command, speaks_json, whole):
        """What the program answers to one case, as facts."""
        words = shlex.split(command)
        stdin = b""
        if "<" in words:
            with open(os.path.join(self.path, words[-1]), "rb") as file:
                stdin = file.read()
            words = words[:-2]
        done = subprocess.run([program, *words], cwd=self.path, input=stdin, capture_output=True, timeout=600)
        out, err = done.stdout.decode(), done.stderr.decode()
        tree, near = {"exit": done.returncode}, answers.NEAR_DOUBLE
        if speaks_json and done.returncode == 0:
            answer = json.loads(out)
            near = answers.near_of(answer)
            tree.update(answer)
        else:
            tree["output"] = lines_of(out)
        tree["messages"] = lines_of(err)
        tree.update(self.take_files())
        return Answer(answers.facts_of(tree, whole), near)

    def take_files(self):
        """What the run wrote, which is removed."""
        found = {}
        for name in sorted(set(os.listdir(self.path)) - self.data):
            path = os.path.join(self.path, name)
            if name.endswith(".npy"):
                shape, numbers = read_npy(path)
                found[name] = {"shape": list(shape), "numbers": numbers}
            else:
                with open(path, newline="") as file:
                    text = file.read()
                found[name] = steady_table(text) if name.endswith(".csv") else text.splitlines()
            os.remove(path)
        return found


def lines_of(text):
    return UNSTEADY_WORD.sub(r"\1 ... s", UNSTEADY_LINE.sub("", text)).splitlines()


def steady_table(text):
    """The lines of a table without the columns that differ from run to run."""
    rows = list(csv.reader(io.StringIO(text)))
    left_out = [i for i, name in enumerate(rows[0]) if any(name.startswith(c) for c in UNSTEADY_COLUMNS)]
    return [",".join(field for i, field in enumerate(row) if i not in left_out) for row in rows]


def answers_of(program, folder, whole=False, every=1):
    """The answers to all cases, or to every so many of them, by name."""
    for name, command, speaks_json in list(cases.all_cases())[::every]:
        yield name, folder.run(program, command, speaks_json, whole)


class Net(unittest.TestCase):
    maxDiff = None

    def test_every_answer_is_the_recorded_one(self):
        recorded = answers.read(RECORDED)
        if EVERY > 1:
            print(f"a build with sanitizers: one case of {EVERY}")
        with Folder() as folder:
            for name, answer in answers_of(PROGRAM, folder, every=EVERY):
                with self.subTest(case=name):
                    found = answers.complaint(name, recorded.get(name, {}), answer.facts, answer.near)
                    if found:
                        self.fail(found + "\nwhere that is meant, net_test.py --record writes the answers anew")

    def test_the_net_catches_what_is_not_rounding(self):
        facts = {"exemplars": [3, 1], "f": 5.0, "f_at_zero": 20.0, "trace.f": [9.0, 5.0], "status": "exhausted"}
        same = lambda **now: answers.complaint("x", facts, {**facts, **now}, 1e-9)
        self.assertIsNone(same(f=5 + 1e-8))  # 5e-10 of f(0)
        for now in ({"f": 5 + 1e-7}, {"exemplars": [1, 3]}, {"status": "converged"}, {"more": 1},
                    {"trace.f": [9.0]}, {"trace.f": [9.0, 5.1]}, {"f": 5}, {"f": float("nan")}):
            self.assertIn(f"x: {next(iter(now))}\n", str(same(**now)))
        self.assertIn("now      nothing", answers.complaint("x", facts, {"exemplars": [3, 1]}, 1e-9))
        many = [0.1 * i for i in range(100)]
        for number in (0, 99):
            moved = [one + 1e-3 * (i == number) for i, one in enumerate(many)]
            apart = answers.complaint("x", {"c": answers.in_short(many)}, {"c": answers.in_short(moved)}, 1e-9)
            self.assertIsNotNone(apart)
        text = {"out": ["error 0.25 of 12"]}
        self.assertIsNone(answers.complaint("x", text, {"out": ["error 0.25000000001 of 12"]}, 1e-9))
        self.assertIsNotNone(answers.complaint("x", text, {"out": ["error 0.25 of 13"]}, 1e-9))

    def test_every_record_has_its_case(self):
        names = [name for name, _, _ in cases.all_cases()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sorted(names), sorted(answers.read(RECORDED)), "net_test.py --record writes them anew")


def record():
    with Folder() as folder:
        begun = time.monotonic()
        found = {name: answer.facts for name, answer in answers_of(PROGRAM, folder)}
    answers.write(RECORDED, found)
    print(f"{len(found)} answers recorded in {time.monotonic() - begun:.1f} s")
    return 0


def against(other):
    """The same bits from two programs on this machine."""
    equal, unequal = 0, {}
    with Folder() as folder:
        ours, theirs = answers_of(PROGRAM, folder, whole=True), answers_of(other, folder, whole=True)
        for (name, mine), (_, its) in zip(ours, theirs):
            apart = answers.differences(its.facts, mine.facts)
            equal += not apart
            if apart:
                unequal[name] = apart
                print(answers.complaint(name, its.facts, mine.facts, None, before="other"))
    return answers.summary(equal, unequal)


def shake():
    """Cases whose picks, counts or words change when the data moves in its last digits."""
    turned = 0
    with Folder() as still, Folder(shake=1e-10) as moved:
        for (name, one), (_, other) in zip(answers_of(PROGRAM, still), answers_of(PROGRAM, moved)):
            found = answers.complaint(name, one.facts, other.facts, 1e4 * one.near, before="unmoved")
            if found:
                turned += 1
                print(found)
    print(f"{turned} cases depend on the last digits of their data")
    return int(turned > 0)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--against", metavar="OTHER")
    parser.add_argument("--shake", action="store_true")
    asked, rest = parser.parse_known_args()
    for program in filter(None, (PROGRAM, asked.against)):
        if not shutil.which(program):
            parser.error(f"{program} is no program; FWSR_PROGRAM names the one to be asked")
    if asked.record:
        return record()
    if asked.against:
        return against(os.path.abspath(asked.against))
    if asked.shake:
        return shake()
    return unittest.main(argv=sys.argv[:1] + rest)


if __name__ == "__main__":
    sys.exit(main())
