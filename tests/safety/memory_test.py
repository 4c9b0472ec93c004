"""The memory that is taken while files are read, measured, against what --memory allows: in every format,
for files that do not fit, which are refused in time, and for files that do."""

import contextlib
import gzip
import io
import os
import struct
import subprocess
import sys
import threading
import unittest
import zipfile
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cli"))
import campaign
import helpers

MEBI = 1 << 20
# The program itself and its libraries, a few pieces of text for each of two threads, and rounding.
PROGRAM = 40 * MEBI
LIMIT = 64 * MEBI
FEATURES = 32


def numbers(count, code="<f8"):
    """`count` numbers as they stand in a file; not all alike, so that compression has some work."""
    some = struct.pack("<4096d", *[(i * 7919 % 1000) / 8 - 60 for i in range(4096)])
    if code == "<f4":
        some = struct.pack("<4096f", *[(i * 7919 % 1000) / 8 - 60 for i in range(4096)])
    if code == "|u1":
        some = bytes(i * 7919 % 251 for i in range(4096))
    if code == ">f8":
        some = struct.pack(">4096d", *[(i * 7919 % 1000) / 8 - 60 for i in range(4096)])
    size = len(some) // 4096 * count
    return (some * (size // len(some) + 1))[:size]


def npy(rows, code="<f8", order="False"):
    return helpers.npy_image(code, f"({rows}, {FEATURES})", [], order) + numbers(rows * FEATURES, code)


def npz(arrays, method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method, compresslevel=1) as file:
        for name, content in arrays.items():
            file.writestr(name + ".npy", content)
    return out.getvalue()


def vector(code, count, body):
    return helpers.npy_image(code, f"({count},)", []) + body


def csr(rows):
    """SciPy's sparse matrix, FEATURES entries a row."""
    entries = rows * FEATURES
    columns = struct.pack(f"<{FEATURES}i", *range(FEATURES)) * rows
    starts = struct.pack(f"<{rows + 1}i", *range(0, entries + 1, FEATURES))
    return npz({"format": helpers.npy_image("|S3", "()", []) + b"csr",
                "shape": vector("<i8", 2, struct.pack("<2q", rows, FEATURES)),
                "data": vector("<f8", entries, numbers(entries)),
                "indices": vector("<i4", entries, columns),
                "indptr": vector("<i4", rows + 1, starts)})


def table(rows, separator=","):
    some = [separator.join(f"{(i * 31 + j * 7919) % 1000 / 8 - 60:.4f}" for j in range(FEATURES))
            for i in range(500)]
    text = ("\n".join(some) + "\n").encode()
    return text * (rows // 500)


def libsvm(rows):
    some = [f"{i % 3} " + " ".join(f"{j + 1}:{(i * 31 + j * 7919) % 1000 / 8 + 1}" for j in range(FEATURES))
            for i in range(500)]
    return ("\n".join(some) + "\n").encode() * (rows // 500)


def idx(rows, features=FEATURES):
    return bytes([0, 0, 8, 2]) + struct.pack(">2I", rows, features) + numbers(rows * features, "|u1")


def mat(rows, compressed):
    def element(kind, body):
        return struct.pack("<II", kind, len(body)) + body + b"\0" * (-len(body) % 8)
    matrix = (element(6, struct.pack("<II", 6, 0)) + element(5, struct.pack("<ii", rows, FEATURES)) +
              element(1, b"X") + element(9, numbers(rows * FEATURES)))
    whole = struct.pack("<II", 14, len(matrix)) + matrix
    if compressed:
        packed = zlib.compress(whole, 1)
        whole = struct.pack("<II", 15, len(packed)) + packed
    return b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack("<H", 0x0100) + b"IM" + whole


# name: (the file of so many rows, bytes of a row once it is read)
FORMATS = {
    "fortran.npy": (lambda n: npy(n, order="True"), 8 * FEATURES),
    "swapped.npy": (lambda n: npy(n, ">f8", "True"), 8 * FEATURES),
    "dense.npz": (lambda n: npz({"x": npy(n)}), 8 * FEATURES),
    "packed.npz": (lambda n: npz({"x": npy(n)}, zipfile.ZIP_DEFLATED), 8 * FEATURES),
    "csr.npz": (csr, 16 * FEATURES),
    "plain.csv": (table, 8 * FEATURES),
    "plain.tsv": (lambda n: table(n, "\t"), 8 * FEATURES),
    "packed.csv.gz": (lambda n: gzip.compress(table(n), 1), 16 * FEATURES),
    "sparse.libsvm": (libsvm, 32 * FEATURES),
    "images.idx.gz": (lambda n: gzip.compress(idx(n, 4 * FEATURES), 1), 4 * FEATURES),
    "plain.mat": (lambda n: mat(n, False), 8 * FEATURES),
    "packed.mat": (lambda n: mat(n, True), 8 * FEATURES),
}
# The same for files that are streamed.
STREAMED = {"plain.npy": (npy, 8 * FEATURES), "float.npy": (lambda n: npy(n, "<f4"), 4 * FEATURES),
            "plain.idx": (lambda n: idx(n, 5 * FEATURES), 5 * FEATURES)}


# A process keeps the largest size of the one that started it, so a small one stands between.
MEASURE = """
import os, sys
child = os.spawnvp(os.P_NOWAIT, sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(child, 0)
os.write(2, b"\\n%d %d" % (os.waitstatus_to_exitcode(status), usage.ru_maxrss))
"""


def peak_of(arguments, folder, stdin=None):
    """Exit code, error text and the largest resident size of the program."""
    child = subprocess.Popen([sys.executable, "-S", "-c", MEASURE, helpers.PROGRAM, *arguments], cwd=folder,
                             stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if stdin:
        def feed():
            with contextlib.suppress(BrokenPipeError, ValueError), child.stdin:
                while child.poll() is None:
                    child.stdin.write(stdin)
        threading.Thread(target=feed, daemon=True).start()
    with child.stderr:
        error, _, numbers_said = child.stderr.read().decode("utf-8", "replace").rpartition("\n")
    child.wait()
    code, kilobytes = numbers_said.split()
    return int(code), error, int(kilobytes) * 1024


@unittest.skipIf(campaign.SANITIZED, "sanitizers take memory of their own")
class MemoryWhileReading(helpers.Case):
    def check_refused(self, name, *more, stdin=None):
        code, error, peak = peak_of(["select", name, "-k", "2", *helpers.FWSR, "--memory", "64M", "--quiet",
                                     "--threads", "2", *more], self.folder, stdin)
        self.assertEqual(code, 1, (name, error))
        self.assertRegex(error, r"^fwsr: .*(than the 64\.0 MiB|64\.0 MiB of memory)", name)
        self.assertIn("; ", error)
        self.assertLess(peak, LIMIT + PROGRAM, f"{name}: {peak / MEBI:.0f} MiB, {error}")

    def test_files_that_do_not_fit_are_refused_in_time(self):
        for name, (make, row) in FORMATS.items():
            with self.subTest(name):
                rows = 3 * LIMIT // row // 500 * 500
                self.write(name, make(rows))
                self.check_refused(name)
                os.remove(self.path(name))

    def test_files_that_fit_are_read_within_the_memory(self):
        for name, (make, row) in FORMATS.items():
            with self.subTest(name):
                rows = LIMIT // 8 // row // 500 * 500
                self.write(name, make(rows))
                code, error, peak = peak_of(["select", name, "-k", "2", *helpers.FWSR, "--memory", "64M", "--quiet",
                                             "--threads", "2"], self.folder)
                self.assertEqual(code, 0, (name, error))
                self.assertLess(peak, LIMIT + PROGRAM, f"{name}: {peak / MEBI:.0f} MiB")
                os.remove(self.path(name))

    def test_files_that_can_be_streamed_are(self):
        for name, (make, row) in STREAMED.items():
            with self.subTest(name):
                self.write(name, make(5 * LIMIT // (4 * row)))
                code, error, peak = peak_of(["select", name, "-k", "2", *helpers.FWSR, "--memory", "64M", "--quiet",
                                             "--threads", "2"], self.folder)
                self.assertEqual(code, 0, (name, error))
                self.assertLess(peak, LIMIT + PROGRAM, f"{name}: {peak / MEBI:.0f} MiB")
                os.remove(self.path(name))

    def test_a_pipe_without_end_is_refused(self):
        self.check_refused("-", stdin=table(500) * 8)
        self.check_refused("/dev/stdin", stdin=table(500) * 8)

    def test_labels_without_end_are_refused(self):
        self.write("x.csv", table(500))
        self.check_refused("x.csv", "--labels", "-", stdin=b"a long label for each of the points\n" * 9999)
        self.write("y.txt.gz", gzip.compress(b"7\n" * (40 * MEBI), 1))
        self.check_refused("x.csv", "--labels", "y.txt.gz")
        self.write("y.npy", vector("|u1", 40 * MEBI, bytes(40 * MEBI)))
        self.check_refused("x.csv", "--labels", "y.npy")

    def test_a_small_file_that_grows_a_thousandfold_is_refused(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, 31)
        line = b",".join([b"1"] * FEATURES) + b"\n"
        bomb = b"".join(packer.compress(line * 20000) for _ in range(800)) + packer.flush()
        self.write("bomb.csv.gz", bomb)
        self.assertLess(len(bomb), 4 * MEBI)
        self.check_refused("bomb.csv.gz")

    def test_other_commands_keep_the_limit_too(self):
        self.write("big.csv", table(3 * LIMIT // (8 * FEATURES) // 500 * 500))
        for command in (["sweep", "big.csv", "-k", "2", "--alphas", "auto,2"],
                        ["compare", "big.csv", "-k", "2", "--methods", "random"]):
            code, error, peak = peak_of([*command, "--memory", "64M", "--quiet", "--threads", "2"],
                                        self.folder)
            self.assertEqual(code, 1, error)
            self.assertIn("than the 64.0 MiB allowed", error)
            self.assertLess(peak, LIMIT + PROGRAM)


if __name__ == "__main__":
    campaign.main()
