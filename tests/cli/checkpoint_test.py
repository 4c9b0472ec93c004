"""--checkpoint and --resume: killed at any moment, a run goes on to the bits of one that nobody disturbed.

A campaign: FWSR_PROGRAM=... [FWSR_MPI_PROGRAM=...] python3 tests/cli/checkpoint_test.py --rounds 50 --seed 7"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
import unittest

from helpers import FWSR, PROGRAM, Case, npy_bytes, random_rows

MPI_PROGRAM = os.environ.get("FWSR_MPI_PROGRAM", "")
MPIRUN = shutil.which("mpirun")
ROUNDS, SEED = 4, 3


def same_answer(text):
    left_out = ("seconds", "threads", "peak_memory_bytes", "plan", "data")
    return {k: v for k, v in json.loads(text).items() if k not in left_out}


def sealed(record):
    """The file of a record that the program takes for its own: with the sum (FNV-1a) of all else in it."""
    record = {key: value for key, value in record.items() if key != "sum"}
    text = json.dumps(record, separators=(",", ":"))
    mark = 0xCBF29CE484222325
    for word in (len(text), *text.encode()):
        for byte in word.to_bytes(8, "little"):
            mark = (mark ^ byte) * 0x100000001B3 % 2**64
    return json.dumps({**record, "sum": mark}, separators=(",", ":")) + "\n"


class Killed(Case):
    REQUESTS = (("-k", "300", *FWSR, "--alpha", "1"),
                ("-k", "40", "--rank", "80"),
                ("-k", "60", *FWSR, "--refine", "exchange", "--eta", "0.2"))

    def setUp(self):
        super().setUp()
        self.write("points.npy", npy_bytes(random_rows(9000, 12, 5), "<f4"))

    def command(self, ranks):
        if not ranks:
            return [PROGRAM]
        return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-q", "-n", str(ranks), MPI_PROGRAM]

    def begin(self, ask, ranks):
        env = self.environment(OMPI_MCA_btl_vader_single_copy_mechanism="none")
        with open(self.path("out.json"), "w") as out:
            return subprocess.Popen([*self.command(ranks), *ask], cwd=self.folder, stdin=subprocess.DEVNULL, stdout=out,
                                    stderr=subprocess.DEVNULL, env=env, start_new_session=True)

    def kill_and_resume(self, rounds, rank_counts):
        bits = random.Random(SEED)
        undisturbed, seconds, killed, resumed_midway = {}, {}, 0, 0
        for turn in range(rounds):
            ranks = bits.choice(rank_counts)
            request = self.REQUESTS[turn % len(self.REQUESTS)]
            ask = ["select", "points.npy", *request, "--json", "--quiet", "--threads", "1"]
            if request not in undisturbed:
                undisturbed[request] = same_answer(self.succeed(*ask).out)
            if (request, ranks) not in seconds:
                start = time.monotonic()
                self.assertEqual(self.begin(ask, ranks).wait(300), 0)
                seconds[request, ranks] = time.monotonic() - start
            check = ["--checkpoint", "check.json", "--checkpoint-seconds", "0"]
            if os.path.exists(self.path("check.json")):
                os.remove(self.path("check.json"))
            for _ in range(bits.randint(1, 3)):  # killed so often
                process = self.begin([*ask, *check, "--resume"], ranks)
                time.sleep(bits.uniform(0, 1.3 * seconds[request, ranks]))
                killed += process.poll() is None
                try:
                    os.killpg(process.pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
                process.wait(60)
            if os.path.exists(self.path("check.json")):
                with open(self.path("check.json")) as file:
                    resumed_midway += bool(json.load(file)["steps"])  # whole, whenever it was killed
            process = self.begin([*ask, *check, "--resume"], ranks)
            self.assertEqual(process.wait(300), 0)
            with self.subTest(turn=turn, ranks=ranks, request=request):
                self.assertEqual(same_answer(self.read("out.json")), undisturbed[request])
        print(f"checkpoints: {rounds} runs, {killed} kills, {resumed_midway} resumed in their midst")
        return resumed_midway

    def test_and_resumed_it_has_the_same_bits(self):
        self.kill_and_resume(ROUNDS, (0,))

    @unittest.skipUnless(MPIRUN and os.path.exists(MPI_PROGRAM), "no MPI here")
    def test_with_its_ranks_and_resumed_it_has_the_same_bits(self):
        self.kill_and_resume(max(2, ROUNDS // 2), (2, 3))


class Resumed(Case):
    ASK = ("select", "points.npy", "-k", "20", "--json", "--quiet")
    CHECK = ("--checkpoint", "check.json")

    def setUp(self):
        super().setUp()
        self.rows = random_rows(3000, 8, 2)
        self.write("points.npy", npy_bytes(self.rows, "<f8"))

    def cut(self, steps, exchange=False):
        """The checkpoint as it was after so many steps."""
        record = json.loads(self.read("whole.json"))
        record["steps"] = record["steps"][:steps]
        if not exchange:
            record["exchange"] = None
        self.write("check.json", sealed(record))
        return record

    def test_after_any_step_it_has_the_same_bits(self):
        for more in ((*FWSR, "--alpha", "1"), (*FWSR, "--alpha", "0", "-k", "6"), ("--rank", "60"),
                     ("--method", "k-fwsr", "--kernel", "rbf")):
            ask = (*self.ASK[:2], *(self.ASK[2:4] if "-k" not in more else ()), *self.ASK[4:], *more)
            whole = self.succeed(*ask, "--checkpoint", "whole.json").out
            count = len(json.loads(self.read("whole.json"))["steps"])
            for steps in (0, 1, count // 2, count):
                for exchange in (False, True)[: 1 + (steps == count)]:
                    with self.subTest(more=more, steps=steps, exchange=exchange):
                        self.cut(steps, exchange)
                        self.assertEqual(same_answer(self.succeed(*ask, *self.CHECK, "--resume").out), same_answer(whole))
                        self.assertEqual(self.read("check.json"), self.read("whole.json"))

    def refused(self, code, sentence, *args):
        outcome = self.run_program(*args)
        self.assertEqual(outcome.code, code, outcome)
        self.assertIn(sentence, outcome.err)

    def test_only_by_the_same_request_on_the_same_points(self):
        ask = (*self.ASK, *FWSR)
        self.succeed(*ask, "--checkpoint", "whole.json")
        self.cut(7)
        again = (*ask, *self.CHECK, "--resume")
        self.refused(1, "alpha is \"auto\" there and 3.0 here", *again, "--alpha", "3")
        self.refused(1, "exemplars is", "select", "points.npy", "-k", "21", *FWSR, *self.CHECK, "--resume")
        moved = [list(row) for row in self.rows]
        moved[2999][1] += 1e-9
        self.write("points.npy", npy_bytes(moved, "<f8"))
        self.refused(1, "the checkpoint is of other points", *again)
        self.write("points.npy", npy_bytes(self.rows[:-1], "<f8"))
        self.refused(1, "points is 3000 there and 2999 here", *again)
        self.write("check.json", "{}")
        self.refused(1, "is no checkpoint", *again)
        self.write("points.npy", npy_bytes(self.rows, "<f8"))
        record = self.cut(7)
        record["steps"][3][0] = 99999
        self.write("check.json", sealed(record))
        self.refused(1, "it names point 99999", *again)
        self.write("check.json", json.dumps(record))
        self.refused(1, "it was altered or damaged", *again)

    def test_caps_of_groups_hold_and_are_part_of_the_request(self):
        self.write("groups.txt", "".join("abcd"[i % 4] + "\n" for i in range(len(self.rows))))
        for more in ((*FWSR, "--alpha", "1"), ("--rank", "60")):
            ask = ("select", "points.npy", "-k", "8", "--json", "--quiet", *more, "--groups", "groups.txt")
            whole = self.succeed(*ask, "--at-most", "2", "--checkpoint", "whole.json").out
            count = len(json.loads(self.read("whole.json"))["steps"])
            for steps in (1, count // 2, count):
                with self.subTest(more=more, steps=steps):
                    self.cut(steps)
                    found = self.succeed(*ask, "--at-most", "2", *self.CHECK, "--resume").out
                    self.assertEqual(same_answer(found), same_answer(whole))
                    groups = [i % 4 for i in json.loads(found)["exemplars"]]
                    self.assertEqual(sorted(groups), [0, 0, 1, 1, 2, 2, 3, 3])
            self.refused(1, "conditions is", *ask, "--at-most", "3", *self.CHECK, "--resume")
            self.refused(1, "conditions is", *ask[:-2], *self.CHECK, "--resume")

    def test_a_run_that_had_ended_answers_again(self):
        """Small ones, which take their steps again, and those without any step to go on from."""
        for points, k in ((300, "5"), (12, "12"), (3, "1")):
            self.write("few.npy", npy_bytes(self.rows[:points], "<f8"))
            for more in ((), FWSR, (*FWSR, "--refine", "exchange"), ("--method", "k-fwsr", "--kernel", "rbf")):
                with self.subTest(points=points, more=more):
                    ask = ("select", "few.npy", "-k", k, "--json", "--quiet", *more, *self.CHECK)
                    whole, record = self.succeed(*ask).out, self.read("check.json")
                    again, once = same_answer(self.succeed(*ask, "--resume").out), same_answer(whole)
                    self.assertEqual(again, once)
                    self.assertEqual(self.read("check.json"), record)

    def test_what_a_time_limit_cut_short_goes_on(self):
        for more in (("-k", "400", *FWSR, "--alpha", "1"), ("-k", "40", "--rank", "80")):
            ask = ("select", "points.npy", "--json", "--quiet", *more)
            whole = self.succeed(*ask).out
            if os.path.exists(self.path("check.json")):
                os.remove(self.path("check.json"))
            before = 0
            for limit in ("0.001", "0.02", "0.001", "0.05"):
                outcome = self.run_program(*ask, *self.CHECK, "--resume", "--time-limit", limit)
                if outcome.code == 1:  # on a busy machine the set-up takes more than a second
                    self.assertIn("came before the first step could be taken", outcome.err)
                    continue
                self.assertIn(outcome.code, (0, 3), outcome)
                steps = len(json.loads(self.read("check.json"))["steps"])
                self.assertGreaterEqual(steps, before, "a limit that ends the way back loses no step")
                before = steps
            with self.subTest(more=more):
                found = json.loads(self.succeed(*ask, *self.CHECK, "--resume").out)
                self.assertEqual(found["exemplars"], json.loads(whole)["exemplars"])
                self.assertEqual(found["weights"], json.loads(whole)["weights"])

    def test_an_altered_file_is_refused_or_leads_to_the_same_answer(self):
        bits = random.Random(SEED)
        self.write("points.npy", npy_bytes(self.rows[:1500], "<f8"))
        ask = ("select", "points.npy", "-k", "6", "--rank", "30", "--json", "--quiet", "--threads", "1")
        whole = self.succeed(*ask, "--checkpoint", "whole.json").out
        good = self.read("whole.json").encode()
        for turn in range(20 * ROUNDS):
            text = bytearray(good)
            for _ in range(bits.randint(1, 3)):
                text[bits.randrange(len(text))] ^= 1 << bits.randrange(8)
            if turn % 5 == 0:
                del text[bits.randrange(len(text)):]
            self.write("check.json", bytes(text))
            with self.subTest(turn=turn, text=bytes(text)):
                self.refused_or_same(ask, whole)

    def test_numbers_of_a_file_that_nobody_wrote(self):
        """With a sum that is right: what is read is checked all the same."""
        bits = random.Random(SEED)
        self.write("points.npy", npy_bytes(self.rows[:1500], "<f8"))
        ask = ("select", "points.npy", "-k", "6", "--rank", "30", "--json", "--quiet", "--threads", "1")
        self.succeed(*ask, "--checkpoint", "whole.json")
        wrong = (-1, 0, 1499, 1500, 2**63, -2**63, 1e300, -1e300, 0.5, None, "x", [], {}, True, [[0] * 5] * 9)
        for turn in range(20 * ROUNDS):
            record = json.loads(self.read("whole.json"))
            part = bits.choice(("f_at_zero", "steps", "step", "exchange", "lists", "all"))
            if part == "step":
                bits.choice(record["steps"])[bits.randrange(5)] = bits.choice(wrong)
            elif part == "exchange":
                record["exchange"][bits.choice(list(record["exchange"]))] = bits.choice(wrong)
            elif part == "lists":
                chosen = record["exchange"][bits.choice(("exemplars", "exemplars_of_exchange"))]
                chosen[bits.randrange(len(chosen))] = bits.choice((chosen[0], *wrong))
            elif part == "all":
                record = bits.choice(wrong[:-1])
            else:
                record[part] = bits.choice(wrong)
            self.write("check.json", sealed(record) if isinstance(record, dict) else json.dumps(record))
            with self.subTest(turn=turn, record=record):
                outcome = self.run_program(*ask, *self.CHECK, "--resume")
                self.assertIn(outcome.code, (0, 1), outcome)
                if outcome.code == 0:
                    chosen = json.loads(outcome.out)["exemplars"]
                    self.assertEqual((len(chosen), len(set(chosen))), (6, 6))
                else:
                    self.assert_one_sentence(outcome)

    def assert_one_sentence(self, outcome):
        said = outcome.err.splitlines()
        self.assertEqual(len(said), 1, outcome)
        self.assertRegex(said[0], "^fwsr: .*(checkpoint|check.json)")

    def refused_or_same(self, ask, whole):
        outcome = self.run_program(*ask, *self.CHECK, "--resume")
        self.assertIn(outcome.code, (0, 1), outcome)
        if outcome.code == 0:
            self.assertEqual(same_answer(outcome.out), same_answer(whole))
        else:
            self.assert_one_sentence(outcome)

    def test_no_other_file_is_lost(self):
        self.write("points.npy", npy_bytes(random_rows(60, 5)))
        self.write("note.txt", b"hello")
        for name in ("note.txt", "points.npy"):
            for extra in ((), ("--resume",)):
                outcome = self.run_program("select", "points.npy", "-k", "3", "--checkpoint", name, *extra)
                self.assertNotEqual(outcome.code, 0, outcome)
        self.assertEqual(self.run_program("select", "points.npy", "-k", "3", "--quiet").code, 0)
        with open(os.path.join(self.folder, "note.txt"), "rb") as file:
            self.assertEqual(file.read(), b"hello")

    def test_a_file_that_is_not_there_begins_anew(self):
        outcome = self.succeed(*self.ASK, *self.CHECK, "--resume")
        self.assertIn("the run begins anew", outcome.err)
        self.assertTrue(os.path.exists(self.path("check.json")))

    def test_what_goes_together(self):
        self.refused(2, "belong to --checkpoint", *self.ASK, "--resume")
        self.refused(2, "is of one run", *self.ASK, *self.CHECK, "--per-class", "--labels", "points.npy")
        self.refused(2, "leave it out for kmedoids", *self.ASK, *self.CHECK, "--method", "kmedoids")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=SEED)
    known, rest = parser.parse_known_args()
    ROUNDS, SEED = known.rounds, known.seed
    unittest.main(argv=[sys.argv[0], *rest])
