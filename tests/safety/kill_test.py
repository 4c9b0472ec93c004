"""Signals at random moments: files are old or new, whole, and what the program says about them is true."""

import json
import os
import random
import resource
import signal
import subprocess
import time

import campaign
from helpers import PROGRAM, Case, npy_bytes, random_rows

ASKING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
FINISHED = "fwsr: interrupted: the exchanges end here; Ctrl-C once more ends at once\n"
UNTOUCHED = ("fwsr: interrupted; nothing was written\n", "fwsr: interrupted; no file was changed\n")
LABELS = "".join(f"{'ab'[i % 2]}\n" for i in range(400))
SCENES = (
    (["select", "set.npy", "-k", "9", "--codes", "c.npy", "--assignment", "a.csv", "-o", "p.csv"],
     ["c.npy", "a.csv", "p.csv"]),
    (["select", "set.npy", "-k", "4", "--labels", "y.txt", "--per-class", "--assignment", "a.npy", "-o",
      "p.json"], ["a.npy", "p.json"]),
    (["generate", "blobs", "--points", "4000", "--dimensions", "30", "-o", "g.csv", "--labels", "y"],
     ["g.csv", "y"]),
    (["generate", "blobs", "--points", "20000", "--dimensions", "60", "-o", "g.npy", "--labels", "y"],
     ["g.npy", "y"]),
    (["sweep", "set.npy", "-k", "5", "--alphas", "1,2", "-o", "s.json"], ["s.json"]),
    (["compare", "set.npy", "-k", "5", "--methods", "fwsr,random", "-o", "t.json"], ["t.json"]),
)
MACHINE = ("seconds", "planned_seconds", "peak_bytes", "peak_memory_bytes", "threads", "write")


def without_machine(value):
    if isinstance(value, dict):
        return {k: without_machine(v) for k, v in value.items() if k not in MACHINE}
    return [without_machine(v) for v in value] if isinstance(value, list) else value


def meaning(name, content):
    """What a file says, without what differs from run to run."""
    return without_machine(json.loads(content)) if name.endswith(".json") else content


class Kill(Case):
    def setUp(self):
        super().setUp()
        self.write("set.npy", npy_bytes(random_rows(400, 12)))
        self.write("y.txt", LABELS)

    def start(self, args, limit=None):
        def prepare():
            for number in (*ASKING, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if limit is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return subprocess.Popen([PROGRAM, *args, "--threads", "2"] if args[0] != "generate" else
                                [PROGRAM, *args], cwd=self.folder, stdout=subprocess.DEVNULL,
                                stderr=subprocess.PIPE, preexec_fn=prepare)

    def content(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()

    def lay_out_old(self, names):
        for name in names:
            self.write(name, f"old {name}\n" * 7)

    def states(self, names, new, finished=False):
        """'old' or 'new' for every file; anything else is a failure. Of exchanges that were ended what is new is
        not known, but whole."""
        found = []
        for name in names:
            content = self.content(name)
            if content == f"old {name}\n".encode() * 7:
                found.append("old")
            elif finished:
                self.assertEqual(len(content) if name.endswith(".npy") else 0,
                                 len(new[name]) if name.endswith(".npy") else 0)
                meaning(name, content)  # JSON that is none is an error
                found.append("new")
            else:
                self.assertEqual(meaning(name, content), new[name], f"{name} is neither old nor new")
                found.append("new")
        return found

    def test_any_moment(self):
        known = []
        for args, names in SCENES:
            begin = time.monotonic()
            process = self.start(args)
            _, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0, err)
            known.append((time.monotonic() - begin,
                          {name: meaning(name, self.content(name)) for name in names}))
        bits = random.Random(campaign.seed())
        for round in range(campaign.rounds(24 if campaign.SANITIZED else 100)):
            scene = round % len(SCENES)
            args, names = SCENES[scene]
            seconds, new = known[scene]
            number = bits.choice((*ASKING, *ASKING, signal.SIGXFSZ, signal.SIGKILL, None))
            with self.subTest(round=round, args=args, signal=number):
                self.one(args, names, new, number, bits.uniform(0, 1.1 * seconds), bits)

    def one(self, args, names, new, number, delay, bits):
        self.lay_out_old(names)
        limit = bits.randrange(1, 1500) if number is None else None  # smaller than any main result
        process = self.start(args, limit)
        if number is not None:
            time.sleep(delay)
            process.send_signal(number)
        _, err = process.communicate(timeout=300)
        err, code = err.decode(), process.returncode
        finished = FINISHED in err
        states = self.states(names, new, finished)
        if number == signal.SIGKILL and code != 0:
            self.assertEqual(code, -signal.SIGKILL)
            process = self.start(args)
            process.communicate(timeout=300)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(self.leftovers(), [], "what a killed run left stays after the next one")
            return
        self.assertEqual(self.leftovers(), [])
        if number is None and code != 0:
            self.assertEqual((code, set(states)), (1, {"old"}), err)
            self.assertRegex(err, r"\Afwsr: \S+: cannot be written: File too large; no file was changed\n\Z")
        elif code == 0:
            self.assertEqual(set(states), {"new"}, err)
            self.assertNotIn("interrupted", err)
        elif code == -number:  # before the program had begun
            self.assertEqual((err, set(states)), ("", {"old"}))
            self.assertIn(number, ASKING + (signal.SIGXFSZ,))
        else:
            self.assertIn(number, ASKING)
            self.assertEqual(code, 128 + number, err)
            if finished and states[-1] == "new":  # of classes some may not have come so far: then nothing is written
                self.assertEqual((number, set(states)), (signal.SIGINT, {"new"}), err)
                self.assertIn("interrupted", err.replace(FINISHED, ""))
            else:
                self.assertIn(err.replace(FINISHED, ""), UNTOUCHED)
                self.assertEqual(set(states), {"old"}, err)

    def test_a_program_that_ignores_hangups_goes_on(self):
        process = subprocess.Popen([PROGRAM, *SCENES[0][0]], cwd=self.folder, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for _ in range(20):
            time.sleep(0.005)
            process.send_signal(signal.SIGHUP)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, err)

    def test_the_same_request_twice_is_one(self):
        os.mkfifo(self.path("pipe"))
        for _ in range(20):
            process = self.start(["select", "set.npy", "-k", "3", "--codes", "c.npy", "-o", "pipe"])
            while not self.leftovers():
                self.assertIsNone(process.poll())
                time.sleep(0.01)
            begin = time.monotonic()
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGTERM)
            process.send_signal(signal.SIGHUP)
            _, err = process.communicate(timeout=300)
            if time.monotonic() - begin < 1:  # a second after the first it would be another request
                break
        self.assertIn(process.returncode, (143, 129), err)
        self.assertEqual((err.decode(), self.leftovers()), (UNTOUCHED[1], []))


if __name__ == "__main__":
    campaign.main()
