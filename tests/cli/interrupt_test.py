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

from helpers import ENDLESS, FWSR, PROGRAM, Case, TooShort, read_npy, wait_until_it_listens


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

    def begin(self, number, *args):
        """The program in the midst of its steps."""
        process = subprocess.Popen([PROGRAM, *args], cwd=self.folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        wait_until_it_listens(process, number)
        time.sleep(0.5)
        if process.poll() == 0:
            process.communicate()
            raise TooShort
        return process

    def test_interruption_ends_cleanly(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            self.of_any_length(lambda times, number=number, code=code: self.end_the_steps(4000 * times, number, code))

    def end_the_steps(self, points, number, code):
        self.succeed("generate", "blobs", "-o", "long.npy", "--points", str(points), "--dimensions", "20")
        with self.unchanged("out.json"):
            process = self.begin(number, "select", "long.npy", "-k", str(points - 100), *FWSR, "--kernel", "rbf",
                                 "--alpha", "50", *ENDLESS, "-o", "out.json")
            process.send_signal(number)
            out, err = process.communicate(timeout=300)
        self.assertEqual(process.returncode, code, err)
        self.assertEqual(out, b"")
        self.assertRegex(err.decode(), r"\A(fwsr: this takes about .*\n)?fwsr: interrupted.*\n\Z")

    def test_a_sweep_leaves_its_output_alone(self):
        self.of_any_length(lambda times: self.end_a_sweep(6000 * times))

    def end_a_sweep(self, points):
        self.succeed("generate", "blobs", "-o", "big.npy", "--points", str(points), "--dimensions", "20")
        self.write("s.csv", "before")
        process = self.begin(signal.SIGINT, "sweep", "big.npy", "-k", str(points - 100), "--kernel", "rbf", "--alphas",
                             "20,50", *ENDLESS, "-o", "s.csv", "--certificate", "none")
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

    def points(self, times):
        """Makes them; how many these are."""
        count = 4000 * times
        self.succeed("generate", "blobs", "-o", "big.npy", "--labels", "y.txt", "--points", str(count),
                     "--dimensions", "20")
        return count

    @contextlib.contextmanager
    def at_terminal(self, *args, stdout=subprocess.DEVNULL):
        """The program, and seen(words), which reads what it shows until these are there (a regular expression), or
        all that it shows. TooShort: it had ended well without them."""
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
            if words is not None and not re.search(words, "".join(shown)):
                self.assertEqual(process.wait(300), 0, f"no {words} in {shown}")
                raise TooShort
            return "".join(shown)

        try:
            yield process, seen
        finally:
            os.close(master)
            if process.poll() is None:
                process.kill()
            process.wait(300)

    def interrupt(self, *args, number=signal.SIGINT, at=BEGUN):
        """Asks it to end when it shows these words; its exit code, and all that it showed. TooShort: it had ended."""
        with self.at_terminal(*args) as (process, seen):
            seen(at)
            process.send_signal(number)
            shown = seen()
            code = process.wait(300)
        if code == 0:
            raise TooShort
        return code, shown

    def result(self, name):
        return json.loads(self.read(name))

    def test_the_best_so_far_is_written(self):
        for args in (self.FROM_RANDOM, (*self.FROM_RANDOM, "--rank", "500"), ()):
            with self.subTest(args=args):
                self.of_any_length(lambda times, args=args: self.best_so_far(self.points(times), args))

    def best_so_far(self, points, args):
        code, shown = self.interrupt(*self.CHOOSE, *args, "-o", "p.json", "--assignment", "a.npy", "--certificate", "none")
        self.assertEqual(code, 130, shown)
        self.assertIn("fwsr: interrupted: the exchanges end here; Ctrl-C once more ends at once", shown)
        result = self.result("p.json")
        self.assertEqual(result["status"], "interrupted")
        self.assertEqual(len(set(result["exemplars"])), self.EXEMPLARS)
        self.assertEqual(sum(result["weights"]), points)
        to = read_npy(self.path("a.npy"))[1]
        self.assertEqual([list(to).count(t) for t in range(self.EXEMPLARS)], result["weights"])
        found = result["refinement"]
        self.assertFalse(found["local_optimum"])
        self.assertLess(found["after"], found["before"])
        for said in (" ".join(result["warnings"]), shown):
            self.assertIn("this is not yet a local optimum", said)

    def test_the_best_so_far_has_a_certificate_and_codes(self):
        def end(times):
            points = self.points(times)
            code, shown = self.interrupt(*self.CHOOSE, "--codes", "c.npy", "-o", "p.json")
            self.assertEqual(code, 130, shown)
            error = self.result("p.json")["certificate"]["reconstruction_error"]
            self.assertTrue(0 < error < 1, error)
            self.assertEqual(read_npy(self.path("c.npy"))[0], (points, self.EXEMPLARS))

        self.of_any_length(end)

    def test_class_by_class_each_has_its_best_so_far_or_nothing_is_written(self):
        def end(times):
            points, k = self.points(times), 40 * times
            self.write("p.json", "what was here before\n")
            code, shown = self.interrupt("select", "big.npy", "--labels", "y.txt", "--per-class", "-k", str(k),
                                         *self.FROM_RANDOM, "-o", "p.json")
            self.assertEqual(code, 130, shown)
            if "no file was changed" in shown:
                self.assertEqual(self.read("p.json"), "what was here before\n")
            else:
                parts = self.result("p.json")["classes"]
                self.assertEqual(sum(sum(part["weights"]) for part in parts), points)
                self.assertIn("interrupted", [part["status"] for part in parts])

        self.of_any_length(end)

    def test_other_signals_end_with_nothing_written(self):
        def end(times, number):
            self.points(times)
            with self.unchanged("p.json"):
                code, shown = self.interrupt(*self.CHOOSE, *self.FROM_RANDOM, "-o", "p.json", number=number)
            self.assertEqual(code, 128 + number, shown)
            self.assertIn("fwsr: interrupted; no file was changed", shown)

        for number in (signal.SIGTERM, signal.SIGHUP):
            self.of_any_length(lambda times, number=number: end(times, number))

    def test_tables_are_not_written_of_unlike_things(self):
        def end(times, args, at):
            self.points(times)
            with self.unchanged("t.csv"):
                code, shown = self.interrupt(*args, "-o", "t.csv", at=at)
            self.assertEqual(code, 130, shown)
            self.assertIn("fwsr: interrupted; no file was changed", shown)

        k = str(self.EXEMPLARS)
        for args, at in ((("sweep", "big.npy", "-k", k, "--kernel", "rbf", "--refine", "exchange", "--alphas",
                           "1,2"), f"{k}/{2 * self.EXEMPLARS} exemplars"),
                         (("compare", "big.npy", "-k", k, "--methods", "random", "--refine", "exchange"),
                          r"random \(1 of 1\)")):
            self.of_any_length(lambda times, args=args, at=at: end(times, args, at))

    def test_once_more_ends_at_once(self):
        def end(times):
            self.points(times)
            reader, writer = os.pipe()
            fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ: the result is longer, and nobody reads it
            with self.at_terminal(*self.CHOOSE, "--json", stdout=writer) as (process, seen):
                os.close(writer)
                try:
                    seen(self.BEGUN)
                    process.send_signal(signal.SIGINT)
                    if "the exchanges end here" not in seen("the exchanges end here|interrupted;"):
                        raise TooShort  # the result was being written
                    self.assertEqual(select.select([reader], [], [], 300)[0], [reader])  # it is being written
                    time.sleep(1.1)
                    process.send_signal(signal.SIGINT)
                    self.assertEqual(process.wait(300), -signal.SIGINT, seen())
                finally:
                    os.close(reader)

        self.of_any_length(end)


if __name__ == "__main__":
    unittest.main()
