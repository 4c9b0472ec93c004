"""Programs and modules as they were linked: what an attacker would find in them. Reads the files themselves, with no
tool beside Python. The flags are in cmake/hardening.cmake."""

import glob
import os
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

import campaign
from helpers import PROGRAM

PT_LOAD, PT_DYNAMIC = 1, 2
PT_GNU_STACK, PT_GNU_RELRO, PT_GNU_PROPERTY = 0x6474E551, 0x6474E552, 0x6474E553
DT_NEEDED, DT_STRTAB, DT_RPATH, DT_RUNPATH = 1, 5, 15, 29
DT_BIND_NOW, DT_FLAGS, DT_FLAGS_1, DT_STRSZ = 24, 30, 0x6FFFFFFB, 10
ET_DYN, DF_BIND_NOW, DF_1_NOW, PF_X = 3, 8, 1, 1
X86_64 = 62


class Elf:
    """What the loader sees of a 64-bit little-endian file."""

    def __init__(self, data):
        self.data = data
        if data[:6] != b"\x7fELF\x02\x01":
            raise ValueError("no 64-bit little-endian ELF file")
        self.type, self.machine = struct.unpack_from("<HH", data, 16)
        start, = struct.unpack_from("<Q", data, 32)
        size, count = struct.unpack_from("<HH", data, 54)
        self.segments = [struct.unpack_from("<IIQQQQQQ", data, start + i * size) for i in range(count)]
        self.entries = []
        for segment in self.of_type(PT_DYNAMIC):
            for at in range(segment[2], segment[2] + segment[5], 16):
                tag, value = struct.unpack_from("<qQ", data, at)
                if tag == 0:
                    break
                self.entries.append((tag, value))

    def of_type(self, kind):
        return [s for s in self.segments if s[0] == kind]

    def values(self, tag):
        return [value for t, value in self.entries if t == tag]

    def in_file(self, address):
        for _, _, offset, start, _, size, _, _ in self.of_type(PT_LOAD):
            if start <= address < start + size:
                return offset + address - start
        raise ValueError(f"no byte of the file is loaded at {address:#x}")

    def strings(self):
        start = self.in_file(self.values(DT_STRTAB)[0])
        return self.data[start : start + self.values(DT_STRSZ)[0]]

    def names(self, tag):
        table = self.strings()
        return [table[v : table.index(b"\0", v)].decode() for v in self.values(tag)]

    def symbols(self):
        """Names the file asks for or offers at load time."""
        return set(self.strings().split(b"\0"))

    def run_paths(self):
        return [entry for tag in (DT_RPATH, DT_RUNPATH) for path in self.names(tag)
                for entry in path.split(":")]


def built_files():
    """(name, bytes) of the program, of a shared library of this build, and of the newest wheel's module and program."""
    files = [PROGRAM] + glob.glob(os.path.join(campaign.BUILD, "lib*", "**", "libfwsr.so"), recursive=True)
    for path in files:
        with open(shutil.which(path) or path, "rb") as file:
            yield path, file.read()
    flags = os.path.join(os.path.dirname(__file__), "..", "..", "cmake", "hardening.cmake")
    wheels = [w for w in glob.glob(os.path.join(os.path.dirname(campaign.BUILD), "wheels", "fwsr-*.whl"))
              if os.path.getmtime(w) > os.path.getmtime(flags)]
    if wheels and not campaign.SANITIZED:
        with zipfile.ZipFile(max(wheels, key=os.path.getmtime)) as wheel:
            for name in wheel.namelist():
                if name == "fwsr_cli/fwsr" or name.startswith("fwsr/_core") and name.endswith(".so"):
                    yield name, wheel.read(name)


class Hardening(unittest.TestCase):
    def each(self):
        for name, data in built_files():
            with self.subTest(file=name):
                yield name, Elf(data)

    def test_no_library_is_looked_for_in_the_current_folder(self):
        for _, elf in self.each():
            for entry in elf.run_paths():
                self.assertRegex(entry, r"\A(/|\$ORIGIN(/|\Z))")

    def test_tables_of_addresses_are_read_only_from_the_start(self):
        for _, elf in self.each():
            self.assertTrue(elf.of_type(PT_GNU_RELRO), "no RELRO")
            now = (any(v & DF_BIND_NOW for v in elf.values(DT_FLAGS))
                   or any(v & DF_1_NOW for v in elf.values(DT_FLAGS_1)) or elf.values(DT_BIND_NOW))
            self.assertTrue(now, "symbols are bound late")

    def test_no_memory_is_both_written_and_run(self):
        for _, elf in self.each():
            stacks = elf.of_type(PT_GNU_STACK)
            self.assertTrue(stacks and not any(s[1] & PF_X for s in stacks), "the stack can be executed")
            for segment in elf.of_type(PT_LOAD):
                self.assertNotEqual(segment[1] & 3, 3, "a part is written and executed")

    def test_files_may_be_loaded_anywhere(self):
        for _, elf in self.each():
            self.assertEqual(elf.type, ET_DYN)

    def test_stacks_are_guarded(self):
        for _, elf in self.each():
            self.assertIn(b"__stack_chk_fail", elf.symbols())
            if not campaign.SANITIZED:
                self.assertTrue(any(s.startswith(b"__") and s.endswith(b"_chk") for s in elf.symbols()),
                                "no checked copies")

    def test_jumps_land_where_they_may(self):
        """The note says that every part was compiled for it; one old object takes it away from the whole."""
        if not self.compiler_marks():
            self.skipTest("a plain program has no such note here: the system's own parts are without it")
        for name, elf in self.each():
            if elf.machine != X86_64 or "_core" in name:  # the module has parts that others compiled
                continue
            notes = b"".join(elf.data[s[2] : s[2] + s[5]] for s in elf.of_type(PT_GNU_PROPERTY))
            at = notes.find(struct.pack("<II", 0xC0000002, 4))
            self.assertGreaterEqual(at, 0, "no note")
            self.assertEqual(struct.unpack_from("<I", notes, at + 8)[0] & 3, 3)

    def compiler_marks(self):
        """Whether a plain program of the compiler has the note: the parts of the system have it then."""
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "plain")
            done = subprocess.run([os.environ.get("CXX", "c++"), "-x", "c++", "-", "-fcf-protection=full", "-o", made],
                                  input=b"int main() {}", capture_output=True)
            if done.returncode != 0:
                return False
            with open(made, "rb") as file:
                elf = Elf(file.read())
            notes = b"".join(elf.data[s[2] : s[2] + s[5]] for s in elf.of_type(PT_GNU_PROPERTY))
            at = notes.find(struct.pack("<II", 0xC0000002, 4))
            return at >= 0 and struct.unpack_from("<I", notes, at + 8)[0] & 3 == 3

    def test_a_library_that_lies_in_the_current_folder_is_not_loaded(self):
        with open(shutil.which(PROGRAM) or PROGRAM, "rb") as file:
            needed = Elf(file.read()).names(DT_NEEDED)
        ours = [name for name in needed if "fmt" in name or "openblas" in name or "libz" in name]
        self.assertTrue(ours, needed)
        with tempfile.TemporaryDirectory() as folder:
            for name in ours:
                with open(os.path.join(folder, name), "wb") as file:
                    file.write(b"no library at all")  # the loader stops at the first file it finds
            environment = {k: v for k, v in os.environ.items() if k != "LD_LIBRARY_PATH"}
            for caught in (False, True):
                if caught:  # the trap works: who asks for this folder gets these files
                    environment["LD_LIBRARY_PATH"] = folder
                done = subprocess.run([os.path.abspath(shutil.which(PROGRAM) or PROGRAM), "--version"], cwd=folder,
                                      capture_output=True, text=True, env=environment)
                self.assertEqual(done.returncode != 0, caught, done.stderr)


class Reader(unittest.TestCase):
    """The tests above can fail: files with each defect are seen as such."""

    def test_a_file_that_is_no_program_is_refused(self):
        for data in (b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01" + bytes(100)):
            with self.assertRaises(ValueError):
                Elf(data)

    def test_what_the_linker_was_told_is_seen(self):
        with tempfile.TemporaryDirectory() as folder:
            made = os.path.join(folder, "weak")
            done = subprocess.run([os.environ.get("CXX", "c++"), "-x", "c++", "-", "-no-pie", "-Wl,-rpath,/x::lib",
                                   "-Wl,-z,lazy", "-Wl,-z,norelro", "-Wl,-z,execstack", "-o", made],
                                  input=b"int main() {}", capture_output=True)
            if done.returncode != 0:
                self.skipTest("no compiler that makes a weak program")
            with open(made, "rb") as file:
                elf = Elf(file.read())
        self.assertEqual(elf.run_paths(), ["/x", "", "lib"])
        self.assertFalse(elf.of_type(PT_GNU_RELRO))
        self.assertTrue(any(s[1] & PF_X for s in elf.of_type(PT_GNU_STACK)))
        self.assertNotEqual(elf.type, ET_DYN)
        self.assertFalse(any(v & DF_1_NOW for v in elf.values(DT_FLAGS_1)) or elf.values(DT_BIND_NOW))


if __name__ == "__main__":
    campaign.main()
