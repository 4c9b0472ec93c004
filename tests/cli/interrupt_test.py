"""Signals that ask the program to end: nothing is written, or, of exchanges, the best so far."""

import contextlib
import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from helpers import PROGRAM, Case, npy_bytes, random_rows, read_npy, wait_until_it_listens


def listen_to_ctrl_c():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


class Steps(Case):
    def test_interruption_while_reading_ends_at_once(self):
        with self.unchanged("out.csv"):
            process = subprocess.Popen(
                [PROGRAM, "select", "-", "-k", "3", "-o", "out.csv"], cwd=self.folder,
                stdin=subprocess.PIPE, stderr=subprocess.PIPE,
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
            wait_until_it_listens(process, signal.SIGINT)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, err), (130, b"fwsr: interrupted; nothing was written\n"))

    def test_interruption_ends_cleanly(self):
        self.succeed("generate", "blobs", "-o", "long.npy", "--points", "4000", "--dimensions", "20")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.unchanged("out.json"):
                process = subprocess.Popen(
                    [PROGRAM, "select", "long.npy", "-k", "3900", "--kernel", "rbf", "-o",
                     "out.json"], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                    preexec_fn=lambda number=number: signal.signal(number, signal.SIG_DFL))
                wait_until_it_listens(process, number)
                time.sleep(0.5)
                self.assertIsNone(process.poll(), "the run was too short to interrupt")
                process.send_signal(number)
                out, err = process.communicate(timeout=300)
            self.assertEqual(process.returncode, code, err)
            self.assertEqual(out, b"")
            self.assertRegex(err.decode(), r"\A(fwsr: this takes about .*\n)?fwsr: interrupted.*\n\Z")

    def test_a_sweep_leaves_its_output_alone(self):
        self.write("big.npy", npy_bytes(random_rows(6000, 20)))
        self.write("s.csv", "before")
        process = subprocess.Popen(
            [PROGRAM, "sweep", "big.npy", "-k", "5900", "--kernel", "rbf", "--alphas", "0.5,1,2",
             "-o", "s.csv", "--certificate", "none"], cwd=self.folder,
            stderr=subprocess.PIPE, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        wait_until_it_listens(process, signal.SIGINT)
        time.sleep(0.5)
        self.assertIsNone(process.poll(), "the run was too short to interrupt")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 130, err)
        self.assertEqual(self.read("s.csv"), "before")


class Exchanges(Case):
    """Of points that take many visits, so that the first is far from the last."""

    EXEMPLARS = 400
    CHOOSE = ("select", "big.npy", "-k", str(EXEMPLARS))
    BEGUN = r"exchanging, [1-9]\d* so far"
    FROM_RANDOM = ("--method", "random", "--kernel", "rbf", "--refine", "exchange")

    def setUp(self):
        super().setUp()
        self.succeed("generate", "blobs", "-o", "big.npy", "--labels", "y.txt", "--points", "4000",
                     "--dimensions", "20")

    @contextlib.contextmanager
    def at_terminal(self, *args, stdout=subprocess.DEVNULL):
        """The program, and seen(words), which reads what it shows until these are there (a regular expression)."""
        try:
            master, slave = pty.openpty()
        except OSError:
            self.skipTest("there are no terminals here (/dev/pts)")
        process = subprocess.Popen([PROGRAM, *args], stdout=stdout, stderr=slave, cwd=self.folder,
                                   env=self.environment(TERM="xterm", NO_COLOR="1"),
                                   preexec_fn=listen_to_ctrl_c)
        os.close(slave)
        shown = []

        def seen(words=None):
            with contextlib.suppress(OSError):  # the other end was closed
                while words is None or not re.search(words, "".join(shown)):
                    shown.append(os.read(master, 65536).decode())
            self.assertRegex("".join(shown), words or "^")
            return "".join(shown)

        try:
            yield process, seen
        finally:
            os.close(master)
            if process.poll() is None:
                process.kill()
            process.wait(300)

    def interrupt(self, *args, number=signal.SIGINT, at=BEGUN):
        """Asks it to end when it shows these words; its exit code, and all that it showed."""
        with self.at_terminal(*args) as (process, seen):
            seen(at)
            process.send_signal(number)
            shown = seen()
            return process.wait(300), shown

    def result(self, name):
        return json.loads(self.read(name))

    def test_the_best_so_far_is_written(self):
        for args in (self.FROM_RANDOM, (*self.FROM_RANDOM, "--rank", "500"), ()):
            with self.subTest(args=args):
                code, shown = self.interrupt(*self.CHOOSE, *args, "-o", "p.json", "--assignment", "a.npy",
                                             "--certificate", "none")
                self.assertEqual(code, 130, shown)
                self.assertIn("fwsr: interrupted: the exchanges end here; Ctrl-C once more ends at once", shown)
                result = self.result("p.json")
                self.assertEqual(result["status"], "interrupted")
                self.assertEqual(len(set(result["exemplars"])), self.EXEMPLARS)
                self.assertEqual(sum(result["weights"]), 4000)
                to = read_npy(self.path("a.npy"))[1]
                self.assertEqual([list(to).count(t) for t in range(self.EXEMPLARS)], result["weights"])
                found = result["refinement"]
                self.assertFalse(found["local_optimum"])
                self.assertLess(found["after"], found["before"])
                for said in (" ".join(result["warnings"]), shown):
                    self.assertIn("this is not yet a local optimum", said)

    def test_the_best_so_far_has_a_certificate_and_codes(self):
        code, shown = self.interrupt(*self.CHOOSE, "--codes", "c.npy", "-o", "p.json")
        self.assertEqual(code, 130, shown)
        error = self.result("p.json")["certificate"]["reconstruction_error"]
        self.assertTrue(0 < error < 1, error)
        self.assertEqual(read_npy(self.path("c.npy"))[0], (4000, self.EXEMPLARS))

    def test_class_by_class_each_has_its_best_so_far_or_nothing_is_written(self):
        classes = len(set(self.read("y.txt").split()))
        self.write("p.json", "what was here before\n")
        code, shown = self.interrupt("select", "big.npy", "--labels", "y.txt", "--per-class", "-k",
                                     str(self.EXEMPLARS // classes), *self.FROM_RANDOM, "-o", "p.json")
        self.assertEqual(code, 130, shown)
        if "no file was changed" in shown:
            self.assertEqual(self.read("p.json"), "what was here before\n")
        else:
            parts = self.result("p.json")["classes"]
            self.assertEqual(sum(sum(part["weights"]) for part in parts), 4000)
            self.assertIn("interrupted", [part["status"] for part in parts])

    def test_other_signals_end_with_nothing_written(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            with self.unchanged("p.json"):
                code, shown = self.interrupt(*self.CHOOSE, *self.FROM_RANDOM, "-o", "p.json", number=number)
            self.assertEqual(code, 128 + number, shown)
            self.assertIn("fwsr: interrupted; no file was changed", shown)

    def test_tables_are_not_written_of_unlike_things(self):
        k = str(self.EXEMPLARS)
        for args, at in ((("sweep", "big.npy", "-k", k, "--kernel", "rbf", "--refine", "exchange", "--alphas",
                           "1,2"), f"{k}/{2 * self.EXEMPLARS} exemplars"),
                         (("compare", "big.npy", "-k", k, "--methods", "random", "--refine", "exchange"),
                          r"random \(1 of 1\)")):
            with self.unchanged("t.csv"):
                code, shown = self.interrupt(*args, "-o", "t.csv", at=at)
            self.assertEqual(code, 130, shown)
            self.assertIn("fwsr: interrupted; no file was changed", shown)

    def test_once_more_ends_at_once(self):
        reader, writer = os.pipe()
        fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ: the result is longer, and nobody reads it
        with self.at_terminal(*self.CHOOSE, "--json", stdout=writer) as (process, seen):
            os.close(writer)
            seen(self.BEGUN)
            process.send_signal(signal.SIGINT)
            self.assertEqual(select.select([reader], [], [], 300)[0], [reader])  # it is being written
            time.sleep(1.1)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(300), -signal.SIGINT, seen())
        os.close(reader)


if __name__ == "__main__":
    unittest.main()
