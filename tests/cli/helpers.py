"""What the tests of the command line share: running the program, and small files in every format."""

import contextlib
import os
import random
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

PROGRAM = os.environ.get("FWSR_PROGRAM", "fwsr")
FWSR = ("--method", "fwsr")  # for tests of the paper's method; those of the program take the default
#: Steps of it, of a small radius, without end: nobody can tell how fast a machine is.
ENDLESS = ("--delta", "0", "--when-converged", "stop", "--max-iterations", "1000000000000")


def npy_bytes(rows, type_code="<f8"):
    """A NumPy file of a list of rows (or of plain numbers)."""
    flat = [v for row in rows for v in row] if rows and isinstance(rows[0], (list, tuple)) else rows
    two = bool(rows) and isinstance(rows[0], (list, tuple))
    shape = f"({len(rows)}, {len(rows[0])})" if two else f"({len(rows)},)"
    return npy_image(type_code, shape, flat)


def npy_image(type_code, shape, flat, order="False"):
    """A NumPy file with exactly this header, right or wrong."""
    text = f"{{'descr': '{type_code}', 'fortran_order': {order}, 'shape': {shape}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    letter = {"<f8": "d", "<f4": "f", "<i8": "q", "|u1": "B", "<i4": "i"}.get(type_code, "d")
    body = struct.pack(f"<{len(flat)}{letter}", *flat)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + body


def read_npy(path):
    """Shape and flat numbers of a little-endian NumPy file."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:6] == b"\x93NUMPY", path
    size = struct.unpack("<H", data[8:10])[0]
    header = eval(data[10 : 10 + size].decode(), {"__builtins__": {}}, {"True": True, "False": False})
    count = 1
    for extent in header["shape"]:
        count *= extent
    letter = {"<f8": "d", "<f4": "f", "<i8": "q"}[header["descr"]]
    return header["shape"], list(struct.unpack(f"<{count}{letter}", data[10 + size :]))


def random_rows(points, features, seed=0):
    bits = random.Random(seed)
    return [[bits.gauss(0, 1) for _ in range(features)] for _ in range(points)]


class Outcome:
    """How a run of the program ended."""

    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return f"exit {self.code}\nstdout: {self.out[:500]!r}\nstderr: {self.err[:1000]!r}"


class TooShort(Exception):
    """A run had ended before it could be disturbed."""


def wait_until_it_listens(process, number, seconds=300):
    """Until the program handles the signal, however slowly it starts."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            with open(f"/proc/{process.pid}/status") as file:
                caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
        except (OSError, StopIteration):
            time.sleep(3)  # no /proc here: long enough for most machines
            return
        if caught >> (number - 1) & 1:
            return
        time.sleep(0.01)


class Case(unittest.TestCase):
    """A test with a folder of its own, in which the program runs."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fwsr-cli-")
        self.addCleanup(shutil.rmtree, self.folder, True)

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, content):
        mode = "wb" if isinstance(content, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(content)
        return name

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def environment(self, **changes):
        env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "OMP_NUM_THREADS")}
        env.update(changes)
        return env

    def run_program(self, *args, stdin=b"", timeout=300, **changes):
        done = subprocess.run([PROGRAM, *args], cwd=self.folder, input=stdin, capture_output=True,
                              timeout=timeout, env=self.environment(**changes))
        text = done.stdout.decode("utf-8", "surrogateescape")
        return Outcome(done.returncode, text, done.stderr.decode("utf-8", "surrogateescape"))

    def succeed(self, *args, **keywords):
        outcome = self.run_program(*args, **keywords)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def of_any_length(self, disturb):
        """disturb(1); where that raises TooShort, disturb(2), disturb(4) ..., whose runs take longer: nobody can tell
        how fast a machine is, or how soon this test gets its turn."""
        for doublings in range(9):
            with contextlib.suppress(TooShort):
                return disturb(2 ** doublings)
        return self.fail("even the longest run had ended before it could be disturbed")

    def leftovers(self):
        return [name for name in os.listdir(self.folder) if ".part" in name]

    @contextlib.contextmanager
    def unchanged(self, name, content="what was here before\n"):
        """The file holds the same, and no half-written file lies beside it."""
        self.write(name, content)
        yield
        self.assertEqual(self.read(name), content)
        self.assertEqual(self.leftovers(), [])
