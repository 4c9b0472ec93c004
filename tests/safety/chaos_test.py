"""Files that change while they are read: cut off, written over, replaced, grown, at any moment of a run.

Whatever happens, the program answers for the file as it was, or says in a sentence what is wrong and ends
with 1; it is not killed by a signal, writes no half of an output and no number that is not finite, and ends."""

import contextlib
import io
import json
import math
import os
import random
import signal
import struct
import subprocess
import time
import zipfile

import campaign
from helpers import ENDLESS, FWSR, PROGRAM, Case, npy_image

POINTS, FEATURES, LABELS = 3000, 40, 4
LIMIT = 300


def numbers(seed, count):
    bits = random.Random(seed)
    return [bits.gauss(0, 1) for _ in range(count)]


def content_of(kind, flat):
    shape = f"({POINTS}, {FEATURES})"
    if kind in ("npy32", "streamed32"):
        return npy_image("<f4", shape, flat)
    if kind in ("npy64", "streamed64"):
        return npy_image("<f8", shape, flat)
    if kind == "npz":
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("points.npy", npy_image("<f8", shape, flat))
        return buffer.getvalue()
    if kind == "csv":
        rows = (flat[i * FEATURES : (i + 1) * FEATURES] for i in range(POINTS))
        return "\n".join(",".join(f"{v:.4f}" for v in row) for row in rows).encode()
    assert kind == "idx", kind
    body = bytes(min(255, max(0, int(128 + 40 * v))) for v in flat)
    return struct.pack(">BBBBII", 0, 0, 8, 2, POINTS, FEATURES) + body


def without_times(value):
    """An answer without what differs from run to run."""
    if isinstance(value, dict):
        return {k: without_times(v) for k, v in value.items() if k not in ("seconds", "peak_memory_bytes")}
    return [without_times(v) for v in value] if isinstance(value, list) else value


EXTENSION = {"npz": "npz", "csv": "csv", "idx": "idx"}
KINDS = ("npy32", "npy64", "streamed32", "streamed64", "idx", "npz", "csv")


def overwrite(path, content, start):
    with open(path, "r+b") as file:
        file.seek(start)
        file.write(content)


def attack(how, path, content, bits):
    """Changes the file."""
    size = len(content)
    if how == "cut":
        os.truncate(path, bits.choice((0, 1, 100, size // 2, size - 1)))
    elif how == "nan":
        start = bits.choice((0, 128, size // 2))
        overwrite(path, b"\xff" * bits.choice((8, size // 4, size - start)), start)
    elif how == "noise":
        start = bits.choice((0, 128, size // 2))
        overwrite(path, bits.randbytes(size - start), start)
    elif how == "grow":
        with open(path, "ab") as file:
            file.write(bits.randbytes(bits.choice((1, 4096, size))))
    elif how == "replace":
        with open(path + ".new", "wb") as file:
            file.write(bits.randbytes(size))
        os.replace(path + ".new", path)
    else:
        os.unlink(path)


ATTACKS = ("cut", "nan", "noise", "grow", "replace", "remove")
LEAVE_WHAT_IS_OPEN = ("replace", "remove")


def stop(process):
    """Until it stands still, or has ended."""
    process.send_signal(signal.SIGSTOP)
    with contextlib.suppress(ChildProcessError):
        os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)


class Chaos(Case):
    def arguments(self, kind, bits, name):
        args = ["select", name, "-k", str(bits.choice((5, 20, 60))), "--json", "-o", "out.json",
                "--threads", str(bits.choice((1, 2)))]
        if kind.startswith("streamed"):
            return args + [*FWSR, "--memory", "17M"]
        extra = bits.choice((["--kernel", "rbf"], ["--kernel", "rbf", "--rank", "64"],
                             ["--certificate", "none"], [*FWSR, "--center", "feature"], FWSR, FWSR,
                             ["--codes", "codes.npy", "--assignment", "to.npy"],
                             ["--labels", "labels.txt", "--per-class"], ["--fill"],
                             ["--method", "kmeans"], ["--method", "kmedoids"], [], []))
        return args + list(extra)

    def reference(self, args):
        """The answer for the untouched file, and how long it takes."""
        start = time.monotonic()
        self.succeed(*args)
        seconds = time.monotonic() - start
        answer = self.take_answer()
        return answer, seconds

    def take_answer(self):
        with open(self.path("out.json")) as file:
            answer = json.load(file, parse_constant=lambda word: self.fail(f"{word} in the answer"))
        os.unlink(self.path("out.json"))
        self.check_finite(answer)
        return without_times(answer)

    def check_finite(self, value):
        if isinstance(value, dict):
            for v in value.values():
                self.check_finite(v)
        elif isinstance(value, list):
            for v in value:
                self.check_finite(v)
        elif isinstance(value, float):
            self.assertTrue(math.isfinite(value))

    def is_open(self, process, name):
        folder = f"/proc/{process.pid}/fd"
        try:
            return any(os.path.realpath(f"{folder}/{fd}") == os.path.realpath(self.path(name))
                       for fd in os.listdir(folder))
        except OSError:  # it has ended
            return False

    def one_round(self, seed):
        bits = random.Random(seed)
        kind, how = bits.choice(KINDS), bits.choice(ATTACKS)
        name = "points." + EXTENSION.get(kind, "npy")
        content = content_of(kind, self.flat)
        target = name if bits.random() < 0.9 else "labels.txt"
        args = self.arguments(kind, bits, name)
        labels = "\n".join(str(i % LABELS) for i in range(POINTS)).encode()
        old = time.time() - 1000  # so that the next write is told apart, however coarse the clock
        for file, data in ((name, content), ("labels.txt", labels)):
            self.write(file, data)
            os.utime(self.path(file), (old, old))
        answer, seconds = self.reference(args)
        self.write("out.json", "as before")
        process = subprocess.Popen([PROGRAM, *args], cwd=self.folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment())
        time.sleep(seconds * bits.random())
        whole = labels if target == "labels.txt" else content
        if how in LEAVE_WHAT_IS_OPEN:
            stop(process)  # so that what is open is so while the name goes
            held = self.is_open(process, target)
            attack(how, self.path(target), whole, bits)
            process.send_signal(signal.SIGCONT)
        else:
            held = False
            attack(how, self.path(target), whole, bits)
        try:
            out, err = process.communicate(timeout=LIMIT + 20 * seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            self.fail(f"seed {seed}: {how} of {kind}: does not end: {args}")
        err = err.decode("utf-8", "replace")
        told = f"seed {seed}: {how} of {target}, {kind}: {args}: exit {process.returncode}: {err[-600:]}"
        self.assertIn(process.returncode, (0, 1, 2), told)
        self.assertEqual(self.leftovers(), [], told)
        if held:
            self.assertEqual(process.returncode, 0, told)
            self.held += 1
        if process.returncode == 0:
            given = self.take_answer()
            if given != answer:  # it was changed before it was opened: then that is what was asked about
                self.assertFalse(held, told)
                self.assertEqual(given, self.reference(args)[0], told)
        else:
            self.assertRegex(err, r"fwsr: [^\n]{20,}\n$", told)
            self.assertEqual(self.read("out.json"), "as before", told)
        return process.returncode

    def test_a_file_that_changes_while_it_is_read(self):
        self.flat = numbers(7, POINTS * FEATURES)
        outcomes = {0: 0, 1: 0, 2: 0}
        self.held = 0
        for r in range(campaign.rounds(10 if campaign.SANITIZED else 24)):
            outcomes[self.one_round(campaign.seed() * 1000003 + r)] += 1
            for name in os.listdir(self.folder):
                os.unlink(self.path(name))
        print(f"answers {outcomes[0]} ({self.held} of a file that lost its name meanwhile), "
              f"sentences {outcomes[1] + outcomes[2]}", flush=True)
        self.assertGreater(outcomes[0], 0, "every run ended in a sentence")
        self.assertGreater(outcomes[1] + outcomes[2], 0, "no run noticed anything")

    def test_an_answer_does_not_look_at_the_file_again_when_it_is_written(self):
        self.flat = numbers(9, POINTS * FEATURES)
        self.write("points.npy", content_of("npy64", self.flat))
        args = ["select", "points.npy", "-k", "20", *FWSR, "--quiet", "-o", "out.json"]
        answer, _ = self.reference([*args, "--codes", "codes.npy"])
        # The codes are larger than a pipe and written before the answer: whoever reads some knows that the work is done.
        os.unlink(self.path("codes.npy"))
        for name in ("codes.npy", "out.json"):
            os.mkfifo(self.path(name))
        process = subprocess.Popen([PROGRAM, *args, "--codes", "codes.npy"], cwd=self.folder,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=self.environment())
        with open(self.path("codes.npy"), "rb") as codes:
            first = codes.read(1)
            os.truncate(self.path("points.npy"), 0)
            rest = codes.read()
        self.assertGreater(len(first + rest), 1 << 16)
        self.assertEqual(self.take_answer(), answer)
        out, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 0, err)

    def test_a_mapped_file_that_is_cut_off_is_named(self):
        self.flat = numbers(8, POINTS * FEATURES)
        self.write("points.npy", content_of("npy64", self.flat))
        process = subprocess.Popen([PROGRAM, "select", "points.npy", "-k", "1000", *FWSR, "--alpha", "50", *ENDLESS],
                                   cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=self.environment())
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline and process.poll() is None:
            with open(f"/proc/{process.pid}/maps") as maps:
                if "points.npy" in maps.read():
                    break
            time.sleep(0.001)
        stop(process)
        os.truncate(self.path("points.npy"), 0)
        process.send_signal(signal.SIGCONT)
        _, err = process.communicate(timeout=LIMIT)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn(b"points.npy: was", err)


if __name__ == "__main__":
    campaign.main()
