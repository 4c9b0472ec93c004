"""Limits on the address space (ulimit -v, ulimit -d): the right answer, or a sentence and exit code 1; never a
program that hangs, never a signal."""

import os
import re
import resource
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import campaign
import helpers

MEBI = 1 << 20
# The loader ends programs that it cannot even load, before any code of ours.
LOADER = "error while loading shared libraries"


def without_seconds(text):
    return re.sub(r"[\d.e-]+ s;", "", text)


@unittest.skipIf(campaign.SANITIZED, "sanitizers need terabytes of address space")
class AddressSpace(helpers.Case):
    def setUp(self):
        super().setUp()
        self.write("x.npy", helpers.npy_bytes(helpers.random_rows(700, 40)))
        text = "".join(",".join(map(repr, row)) + "\n" for row in helpers.random_rows(600, 30))
        self.write("x.csv", text * 8)

    def run_limited(self, words, kind, limit, **changes):
        def apply():
            resource.setrlimit(kind, (limit, limit))
        # OpenBLAS takes room for as many threads as this says when it is loaded; the work has --threads.
        done = subprocess.run([helpers.PROGRAM, *words], cwd=self.folder, capture_output=True, timeout=300,
                              preexec_fn=apply, env=self.environment(OMP_NUM_THREADS="2", **changes), stdin=subprocess.DEVNULL)
        return helpers.Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    def check(self, words, kind, limits):
        right = without_seconds(self.succeed(*words).out)
        outcomes = []
        for limit in limits:
            with self.subTest(words=words, limit=limit // MEBI):
                done = self.run_limited(words, kind, limit)
                if done.code == 0:
                    self.assertEqual(without_seconds(done.out), right, done)
                elif LOADER in done.err:
                    self.assertEqual(done.code, 127, done)
                else:
                    self.assertEqual(done.code, 1, done)
                    self.assertRegex(done.err, "^fwsr: ", done)
                outcomes.append(done.code)
        self.assertIn(0, outcomes, "none of the limits leaves enough")
        self.assertNotEqual(outcomes[0], 0)

    def limits(self, in_tests):
        """From too little for anything to enough for eight threads, closer together in longer campaigns."""
        count = max(2, campaign.rounds(in_tests))
        return [round(50 * (3000 / 50) ** (i / (count - 1))) * MEBI for i in range(count)]

    def test_every_limit_ends_in_an_answer_or_a_sentence(self):
        for threads in ("1", "2", "8"):
            self.check(["select", "x.npy", "-k", "3", "--quiet", "--threads", threads], resource.RLIMIT_AS,
                       self.limits(16))

    def test_other_ways_through_the_program(self):
        for words in (["select", "x.csv", "-k", "3", "--kernel", "rbf", "--quiet", "--threads", "4"],
                      ["select", "x.npy", "-k", "3", *helpers.FWSR, "--quiet", "--threads", "2"],
                      ["select", "x.npy", "-k", "3", "--method", "kmeans", "--quiet", "--threads", "2"],
                      ["sweep", "x.npy", "-k", "3", "--alphas", "auto,2", "--quiet", "--threads", "2"]):
            self.check(words, resource.RLIMIT_AS, self.limits(8))

    def test_plans_are_made_under_every_limit(self):
        for words in (["inspect", "x.npy"], ["select", "x.npy", "-k", "300", "--kernel", "rbf", "--dry-run"],
                      ["compare", "x.npy", "-k", "3", "--methods", "fwsr,kmedoids", "--time-limit", "60"]):
            outcomes = []
            for limit in self.limits(8):
                with self.subTest(words=words, limit=limit // MEBI):
                    done = self.run_limited(words, resource.RLIMIT_AS, limit)
                    self.assertTrue(done.code in (0, 1) or LOADER in done.err, done)
                    outcomes.append(done.code)
            self.assertIn(0, outcomes, "none of the limits leaves enough")

    def test_limits_on_data(self):
        self.check(["select", "x.npy", "-k", "3", "--quiet", "--threads", "2"], resource.RLIMIT_DATA,
                   [limit // 2 for limit in self.limits(8)])

    def test_stacks_that_openmp_is_told_to_make_larger(self):
        words = ["select", "x.npy", "-k", "3", "--quiet", "--threads", "4"]
        for size in ("200M", "1g", " 300000 ", "268435456B"):
            with self.subTest(size=size):
                done = self.run_limited(words, resource.RLIMIT_AS, 1000 * MEBI, OMP_STACKSIZE=size)
                self.assertEqual(done.code, 1, done)
                self.assertRegex(done.err, "^fwsr: 4 threads need .* of address space, and the limit", done)

    def test_the_sentence_says_what_to_do(self):
        done = self.run_limited(["--version"], resource.RLIMIT_AS, 200 * MEBI)
        self.assertRegex(done.err, r"limited to 200 MiB \(ulimit -v\), and \d+ MiB are needed .*; raise the limit")
        done = self.run_limited(["select", "x.npy", "-k", "3", "--threads", "8"], resource.RLIMIT_AS, 700 * MEBI)
        self.assertEqual(done.code, 1)
        self.assertIn("raise the limit or use fewer threads", done.err)


if __name__ == "__main__":
    campaign.main()
