"""Files larger than the memory allowed: the same answer as from memory, within that memory."""

import array
import json
import random
import struct
import unittest

from helpers import FWSR, Case, npy_bytes, npy_image, random_rows

MEBI = 1 << 20
STREAMED = r"^streamed in blocks, about \d+ passes over the file; the time is that of "


def same_answer(result):
    """What may not depend on where the points are."""
    left_out = ("seconds", "threads", "peak_memory_bytes", "plan", "data")
    return {k: v for k, v in result.items() if k not in left_out}


class Streaming(Case):
    def json(self, *args):
        return json.loads(self.succeed("select", *args, "--json", "--quiet").out)

    def write_large(self, name, mebibytes, features):
        """float32 points, all different: one block of numbers, shifted by less than a point each time."""
        bits = random.Random(3)
        numbers = array.array("f", (bits.random() for _ in range(MEBI + 1000)))
        rows = mebibytes * MEBI // 4 // features
        with open(self.path(name), "wb") as file:
            file.write(npy_image("<f4", f"({rows}, {features})", []))
            for piece in range(mebibytes // 4):
                numbers[piece] += 1
                file.write(memoryview(numbers)[7 * piece % 1000:][:MEBI])
        return rows

    def test_four_times_the_memory(self):
        self.write("small.npy", npy_bytes(random_rows(20, 3)))
        if self.json("small.npy", "-k", "2")["peak_memory_bytes"] > 24 * MEBI:
            self.skipTest("a build with sanitizers takes more memory than it is told")
        self.write_large("large.npy", 256, 256)
        ask = ("large.npy", "-k", "5", "--threads", "2", *FWSR)
        held = self.json(*ask, "--memory", "1G")
        self.assertEqual(held["plan"]["notes"], [])
        streamed = self.json(*ask, "--memory", "64M")
        self.assertRegex(streamed["plan"]["notes"][0], STREAMED)
        self.assertEqual(same_answer(streamed), same_answer(held))
        self.assertLess(streamed["plan"]["data_bytes"], MEBI)
        self.assertLess(streamed["peak_memory_bytes"], 64 * MEBI)
        refused = self.run_program("select", *ask, "--memory", "20M")
        self.assertEqual(refused.code, 1)
        self.assertRegex(refused.err, r"^fwsr: large.npy: .*streamed in blocks, need .* but only 20.0 MiB")
        self.assertIn("streamed in blocks", self.succeed("select", *ask, "--memory", "64M", "--dry-run").out)

    def test_data_that_fits_but_not_beside_the_work_is_streamed(self):
        self.write_large("x.npy", 32, 64)
        plan = self.json("x.npy", "-k", "3", *FWSR, "--memory", "36M", "--threads", "1")["plan"]
        self.assertEqual(len(plan["notes"]), 1)

    def test_idx_and_classes(self):
        bits = random.Random(4)
        header = b"\0\0\x08\x03" + struct.pack(">3i", 120000, 20, 20)
        self.write("x.idx", header + bits.randbytes(120000 * 400))
        self.write("y.txt", "".join(bits.choice("abc") + "\n" for _ in range(120000)))
        for more in ((), ("--per-class", "--labels", "y.txt")):
            ask = ("x.idx", "-k", "3", *FWSR, "--threads", "2", *more)
            held, streamed = self.json(*ask), self.json(*ask, "--memory", "43M")
            self.assertIn("uint8 converted to float32 whenever it is read", streamed["data"]["notes"])
            for key in ("exemplars", "strength", "weights", "certificate"):
                self.assertEqual(streamed.get(key), held.get(key))

    def test_the_default_holds_its_factor_and_streams_the_points(self):
        self.write_large("x.npy", 64, 1024)  # the factor: 16384 points x 256, a quarter of them
        self.write("y.txt", "".join("ab"[i % 3 == 0] + "\n" for i in range(16384)))
        for more in ((), ("--per-class", "--labels", "y.txt")):
            ask = ("x.npy", "-k", "4", "--threads", "1", *more)
            held, streamed = self.json(*ask, "--memory", "1G"), self.json(*ask, "--memory", "70M")
            for before, after in zip(held.get("classes", [held]), streamed.get("classes", [streamed])):
                self.assertEqual((after["plan"]["method"], after["plan"]["kernel"], after["plan"]["rank"]),
                                 ("exchange", "rbf", 256))
                self.assertEqual(before["plan"]["notes"], [])
                self.assertRegex(after["plan"]["notes"][0], STREAMED)
                for key in ("exemplars", "strength", "weights", "certificate", "refinement", "gamma", "kernel_error"):
                    self.assertEqual(after[key], before[key], key)
        refused = self.run_program("select", "x.npy", "-k", "4", "--threads", "1", "--memory", "30M")
        self.assertEqual(refused.code, 1)
        self.assertRegex(refused.err, r"^fwsr: x.npy: .*streamed in blocks, need .* but only 30.0 MiB.* smaller rank")
        self.succeed("select", "x.npy", "-k", "4", "--threads", "1", "--memory", "30M", "--rank", "16")

    def test_what_cannot_be_streamed(self):
        k = [[float(i == j) for j in range(40)] for i in range(40)]
        self.write("k.npy", npy_bytes(k))
        refused = self.run_program("select", "k.npy", "-k", "2", "--kernel", "precomputed", "--memory", "4K")
        self.assertEqual(refused.code, 1)
        self.assertRegex(refused.err, r"k.npy: a precomputed kernel.*allow more memory")
        self.write("f.npy", npy_image("<f8", "(40, 40)", [v for row in k for v in row], order="True"))
        refused = self.run_program("select", "f.npy", "-k", "2", "--memory", "4K")
        self.assertRegex(refused.err, r"f.npy: .*column by column")

    def test_inspect_maps_what_it_looks_at(self):
        rows = self.write_large("x.npy", 16, 64)
        self.assertEqual(json.loads(self.succeed("inspect", "x.npy", "--json").out)["data"]["points"], rows)


if __name__ == "__main__":
    unittest.main()
