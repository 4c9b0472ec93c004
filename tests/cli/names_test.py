"""What the data is called, names of points in npz files, and tables of Arrow, which others read."""

import io
import json
import struct
import unittest
import zipfile

from helpers import Case, npy_bytes, random_rows


def words_npy(words):
    """A NumPy file of text, four bytes a character."""
    width = max(len(word) for word in words)
    text = f"{{'descr': '<U{width}', 'fortran_order': False, 'shape': ({len(words)},), }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    body = b"".join(word.ljust(width, "\0").encode("utf-32-le") for word in words)
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + body


def npz_bytes(**arrays):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in arrays.items():
            archive.writestr(f"{name}.npy", content)
    return file.getvalue()


class Names(Case):
    def test_the_result_calls_the_data_as_it_is_told(self):
        self.write("x.npy", npy_bytes(random_rows(8, 3)))
        for command in (("select", "-k", "2"), ("sweep", "-k", "2"), ("inspect",),
                        ("compare", "-k", "2", "--methods", "rrqr")):
            said = self.succeed(command[0], "x.npy", *command[1:], "--json", "--name", "my points")
            self.assertEqual(json.loads(said.out)["data"]["name"], "my points")
        self.assertIn("my points", self.succeed("inspect", "x.npy", "--name", "my points").out)

    def test_so_do_messages_about_the_points(self):
        self.write("x.csv", "1,2\n3,nan\n")
        said = self.run_program("select", "x.csv", "-k", "1", "--name", "mine")
        self.assertEqual(said.code, 1)
        self.assertTrue(said.err.startswith("fwsr: mine:"), said)

    def test_a_name_cannot_drive_a_terminal_and_is_not_empty(self):
        self.write("x.npy", npy_bytes(random_rows(8, 3)))
        said = self.run_program("select", "x.npy", "-k", "9", "--name", "a\x1b[31mb")
        self.assertEqual(said.code, 2)
        self.assertNotIn("\x1b", said.err)
        self.assertIn("--name is given an empty value",
                      self.run_program("select", "x.npy", "-k", "2", "--name", "").err)

    def test_ids_of_an_npz_file(self):
        rows, names = random_rows(6, 3), ["a", "bé", "c,\"d\"", "e", "f", "g"]
        self.write("x.npz", npz_bytes(X=npy_bytes(rows), who=words_npy(names)))
        said = json.loads(self.succeed("select", "x.npz", "-k", "3", "--id-column", "who", "--json").out)
        self.assertEqual(said["ids"], [names[i] for i in said["exemplars"]])

    def test_tables_of_arrow_are_left_to_python(self):
        for name, content in (("x.parquet", b"PAR1\x15\x04\0PAR1"), ("x.feather", b"ARROW1\0\0\xff\xff")):
            self.write(name, content)
            said = self.run_program("select", name, "-k", "2")
            self.assertEqual(said.code, 1)
            self.assertRegex(said.err, rf"\Afwsr: {name}: is an? .*use python -m fwsr .*pyarrow")


if __name__ == "__main__":
    unittest.main()
