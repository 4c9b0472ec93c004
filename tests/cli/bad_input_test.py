"""Every kind of wrong input: one message that says what, where and what to do; nothing touched."""

import os
import re
import unittest

from helpers import FWSR, Case, npy_bytes, npy_image, random_rows

GOOD = "good.npy"
CSV = "a,b,kind\n1,2,x\n3,4,y\n5,7,x\n2,2,y\n"
ADVICE = re.compile(r"\b(write|give|name|check|use|see|ask|add|mean|make|put|remove|leave|choose|save|"
                    r"fill|convert|replace|set|try|must|needs?|say|close|fetch|copy|the (classes|columns) are)\b")

# name: (exit code, what the message must match, files to write, arguments)
OPTIONS = {
    "no_command": (2, "select", {}, []),
    "unknown_command": (2, "did you mean select", {}, ["selct", GOOD, "-k", "2"]),
    "unknown_top_option": (2, "--version", {}, ["--versoin"]),
    "top_option_with_more": (2, "--version", {}, ["--version", "x"]),
    "no_data": (2, "DATA", {}, ["select", "-k", "2"]),
    "no_k": (2, "-k", {}, ["select", GOOD]),
    "unknown_option": (2, "did you mean --alpha", {}, ["select", GOOD, "-k", "2", "--alpah", "1"]),
    "strange_option": (2, "--zzzzzzzz.*--help", {}, ["select", GOOD, "-k", "2", "--zzzzzzzz"]),
    "missing_value": (2, "--alpha", {}, ["select", GOOD, "-k", "2", "--alpha"]),
    "twice": (2, "--exemplars.*more than once", {}, ["select", GOOD, "-k", "2", "-k", "3"]),
    "flag_with_value": (2, "--nonneg", {}, ["select", GOOD, "-k", "2", "--nonneg=7"]),
    "two_files": (2, "other.npy", {}, ["select", GOOD, "other.npy", "-k", "2"]),
    "k_word": (2, "-k.*'many'", {}, ["select", GOOD, "-k", "many"]),
    "k_zero": (2, "-k.*0", {}, ["select", GOOD, "-k", "0"]),
    "k_negative": (2, "-k.*-3", {}, ["select", GOOD, "-k", "-3"]),
    "k_fraction": (2, "-k.*2.5", {}, ["select", GOOD, "-k", "2.5"]),
    "k_huge": (2, "-k", {}, ["select", GOOD, "-k", "99999999999999999999"]),
    "k_beyond_n": (2, r"good\.npy.*31.*30", {}, ["select", GOOD, "-k", "31"]),
    "alpha_word": (2, "--alpha 'x'.* or auto", {}, ["select", GOOD, "-k", "2", *FWSR, "--alpha", "x"]),
    "alpha_tail": (2, "--alpha '1.5x'", {}, ["select", GOOD, "-k", "2", *FWSR, "--alpha", "1.5x"]),
    "alpha_negative": (2, "alpha.*-1", {}, ["select", GOOD, "-k", "2", *FWSR, "--alpha", "-1"]),
    "alpha_nan": (2, "--alpha", {}, ["select", GOOD, "-k", "2", *FWSR, "--alpha", "nan"]),
    "beta_zero": (2, "beta", {}, ["select", GOOD, "-k", "2", *FWSR, "--beta", "0"]),
    "beta_infinite": (2, "--beta", {}, ["select", GOOD, "-k", "2", *FWSR, "--beta", "inf"]),
    "alpha_and_beta": (2, "--alpha and --beta", {},
                       ["select", GOOD, "-k", "2", *FWSR, "--alpha", "1", "--beta", "1"]),
    "two_etas": (2, "--eta and --eta-relative", {},
                 ["select", GOOD, "-k", "2", *FWSR, "--eta", "1", "--eta-relative", "1"]),
    "eta_negative": (2, "eta", {}, ["select", GOOD, "-k", "2", *FWSR, "--eta", "-1"]),
    "two_deltas": (2, "--delta and --delta-absolute", {},
                   ["select", GOOD, "-k", "2", *FWSR, "--delta", "1", "--delta-absolute", "1"]),
    "delta_negative": (2, "delta", {}, ["select", GOOD, "-k", "2", *FWSR, "--delta", "-1"]),
    "kernel_unknown": (2, "--kernel 'rfb'.*rbf", {}, ["select", GOOD, "-k", "2", "--kernel", "rfb"]),
    "q_unknown": (2, "--q '3'.*1, 2 and inf", {}, ["select", GOOD, "-k", "2", *FWSR, "--q", "3"]),
    "center_unknown": (2, "--center.*point", {}, ["select", GOOD, "-k", "2", "--center", "mean"]),
    "scale_unknown": (2, "--scale.*unit", {}, ["select", GOOD, "-k", "2", "--scale", "Unit"]),
    "gamma_zero": (2, "gamma", {}, ["select", GOOD, "-k", "2", "--kernel", "rbf", "--gamma", "0"]),
    "gamma_of_linear": (2, "gamma", {}, ["select", GOOD, "-k", "2", *FWSR, "--gamma", "1"]),
    "degree_zero": (2, "degree", {},
                    ["select", GOOD, "-k", "2", "--kernel", "polynomial", "--degree", "0"]),
    "degree_huge": (2, "--degree", {},
                    ["select", GOOD, "-k", "2", "--kernel", "polynomial", "--degree", "9999999999"]),
    "rank_negative": (2, "rank.*-3", {},
                      ["select", GOOD, "-k", "2", "--kernel", "rbf", "--rank", "-3"]),
    "rank_word": (2, "--rank 'low'", {},
                  ["select", GOOD, "-k", "2", "--kernel", "rbf", "--rank", "low"]),
    "rank_of_linear": (2, "rank.*rbf.*linear", {}, ["select", GOOD, "-k", "2", *FWSR, "--rank", "5"]),
    "rank_and_q": (2, "rank.*q = 1", {},
                   ["select", GOOD, "-k", "2", *FWSR, "--kernel", "rbf", "--rank", "5", "--q", "1"]),
    "rank_and_signs": (2, "rank.*nonneg", {},
                       ["select", GOOD, "-k", "2", *FWSR, "--kernel", "rbf", "--rank", "5", "--nonneg"]),
    "rank_too_large_for_memory": (1, "smaller rank", {},
                                  ["select", GOOD, "-k", "2", "--kernel", "rbf", "--rank", "20",
                                   "--memory", "10000"]),
    "not_square": (2, "good.npy.*square", {}, ["select", GOOD, "-k", "2", "--kernel", "precomputed"]),
    "rho_alone": (2, "lambda", {}, ["select", GOOD, "-k", "2", "--rho", "1"]),
    "alpha_of_default": (2, "--alpha.*fwsr and k-fwsr, not of exchange, which is the default.*--method fwsr", {},
                         ["select", GOOD, "-k", "2", "--alpha", "5"]),
    "precise_of_default": (2, "--precise.*not of exchange", {}, ["select", GOOD, "-k", "2", "--precise"]),
    "linear_of_default": (2, "other than linear.*suits the points.*--method fwsr --refine exchange", {},
                          ["select", GOOD, "-k", "2", "--kernel", "linear"]),
    "no_exchange_of_default": (2, "exchange exchanges.*--method fwsr and --method k-fwsr", {},
                               ["select", GOOD, "-k", "2", "--refine", "none"]),
    "iterations_zero": (2, "iteration limit", {},
                        ["select", GOOD, "-k", "2", *FWSR, "--max-iterations", "0"]),
    "certificate_unknown": (2, "--certificate", {},
                            ["select", GOOD, "-k", "2", "--certificate", "some"]),
    "threads_zero": (2, "--threads", {}, ["select", GOOD, "-k", "2", "--threads", "0"]),
    "threads_word": (2, "--threads", {}, ["select", GOOD, "-k", "2", "--threads", "two"]),
    "memory_word": (2, "--memory.*4G", {}, ["select", GOOD, "-k", "2", "--memory", "lots"]),
    "memory_tiny": (1, "memory", {}, ["select", GOOD, "-k", "2", "--memory", "10"]),
    "header_unknown": (2, "--header.*yes, no or auto", {},
                       ["select", "d.csv", "-k", "2", "--header", "maybe"]),
    "columns_empty_name": (2, "--columns", {"d.csv": CSV},
                           ["select", "d.csv", "-k", "2", "--columns", "a,,b"]),
    "codes_not_npy": (2, "--codes", {}, ["select", GOOD, "-k", "2", "--codes", "codes.txt"]),
    "assignment_ending": (2, "--assignment", {}, ["select", GOOD, "-k", "2", "--assignment", "a.bin"]),
    "one_file_twice": (2, "--codes and --assignment", {},
                       ["select", GOOD, "-k", "2", "--codes", "x.npy", "--assignment", "./x.npy"]),
    "output_is_input": (2, "good.npy.*overwrite", {}, ["select", GOOD, "-k", "2", "--codes", GOOD]),
    "no_such_folder": (1, "nowhere", {}, ["select", GOOD, "-k", "2", "--codes", "nowhere/c.npy"]),
    "output_is_folder": (1, "folder", {}, ["select", GOOD, "-k", "2", "--assignment", "d.npy"]),
    "generate_kind": (2, "did you mean blobs", {}, ["generate", "blob", "-o", "x.npy"]),
    "generate_no_output": (2, "-o", {}, ["generate", "blobs"]),
    "generate_other_option": (2, "--noise", {}, ["generate", "blobs", "-o", "x.npy", "--noise", "1"]),
    "generate_points": (2, "points", {}, ["generate", "blobs", "-o", "x.npy", "--points", "0"]),
    "generate_seed": (2, "--seed", {}, ["generate", "blobs", "-o", "x.npy", "--seed", "-1"]),
    "inspect_no_data": (2, "DATA", {}, ["inspect"]),
    "inspect_option_of_select": (2, "--alpha", {}, ["inspect", GOOD, "--alpha", "1"]),
}

LABELS = {
    "per_class_without_labels": (2, "--labels", {}, ["select", GOOD, "-k", "2", "--per-class"]),
    "proportional_alone": (2, "--per-class", {}, ["select", GOOD, "-k", "proportional:5"]),
    "named_alone": (2, "--per-class", {}, ["select", GOOD, "-k", "x=5"]),
    "unknown_class": (2, "'z'.*'x' and 'y'", {"d.csv": CSV},
                      ["select", "d.csv", "--label-column", "kind", "--per-class", "-k", "z=1"]),
    "class_twice": (2, "'x'.*twice", {"d.csv": CSV},
                    ["select", "d.csv", "--label-column", "kind", "--per-class", "-k", "x=1,x=1"]),
    "proportional_beyond_n": (2, "5.*4 points", {"d.csv": CSV}, [
        "select", "d.csv", "--label-column", "kind", "--per-class", "-k", "proportional:5"]),
    "class_count_word": (2, "-k", {"d.csv": CSV},
                         ["select", "d.csv", "--label-column", "kind", "--per-class", "-k", "x=two"]),
    "labels_missing_file": (1, "none.txt", {}, ["select", GOOD, "-k", "2", "--labels", "none.txt"]),
    "labels_too_few": (1, "y.txt.*3 labels.*30 points", {"y.txt": "a\nb\nc\n"},
                       ["select", GOOD, "-k", "2", "--labels", "y.txt"]),
    "two_labels": (2, "--labels and --label-column", {"d.csv": CSV}, [
        "select", "d.csv", "-k", "2", "--labels", "y.txt", "--label-column", "kind"]),
    "both_from_stdin": (2, "--labels", {}, ["select", "-", "-k", "2", "--labels", "-"]),
    "no_such_column": (1, "d.csv.*'sort'", {"d.csv": CSV},
                       ["select", "d.csv", "-k", "2", "--label-column", "sort"]),
    "label_column_of_npy": (1, "good.npy.*label", {},
                            ["select", GOOD, "-k", "2", "--label-column", "kind"]),
}

FILES = {
    "missing": (1, "absent.npy", {}, ["select", "absent.npy", "-k", "2"]),
    "folder": (1, "folder", {}, ["select", ".", "-k", "2"]),
    "empty": (1, "e.csv", {"e.csv": ""}, ["select", "e.csv", "-k", "1"]),
    "empty_stdin": (1, "standard input", {}, ["select", "-", "-k", "1"]),
    "garbage": (1, "g.bin", {"g.bin": bytes(range(256)) * 4}, ["select", "g.bin", "-k", "1"]),
    "npy_cut": (1, "cut.npy", {"cut.npy": npy_bytes(random_rows(9, 3))[:-5]},
                ["select", "cut.npy", "-k", "2"]),
    "npy_header": (1, "h.npy", {"h.npy": b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'"},
                   ["select", "h.npy", "-k", "2"]),
    "npy_three_dimensions": (1, "t.npy", {"t.npy": npy_image("<f8", "(2, 2, 2)", [1.0] * 8)},
                             ["select", "t.npy", "-k", "1"]),
    "npy_objects": (1, "o.npy", {"o.npy": npy_image("|O", "(2, 2)", [])},
                    ["select", "o.npy", "-k", "1"]),
    "npy_huge_shape": (1, "s.npy", {"s.npy": npy_image("<f8", "(4000000000, 4000000000)", [])},
                       ["select", "s.npy", "-k", "1"]),
    "npy_nan": (1, r"n\.npy.*point 1\b", {"n.npy": npy_bytes([[1.0, 2], [float("nan"), 0], [3, 4]])},
                ["select", "n.npy", "-k", "2"]),
    "npy_infinite": (1, r"i\.npy.*point 2\b", {"i.npy": npy_bytes([[1.0, 2], [5, 0], [3, 1e999]])},
                     ["select", "i.npy", "-k", "2", "--kernel", "rbf"]),
    "csv_ragged": (1, r"r\.csv.*3", {"r.csv": "1,2\n3,4\n5\n"}, ["select", "r.csv", "-k", "1"]),
    "csv_words": (1, r"w\.csv", {"w.csv": "a,b\n1,2\n3,blue\n"}, ["select", "w.csv", "-k", "1"]),
    "csv_missing_number": (1, r"m\.csv", {"m.csv": "a,b\n1,2\n3,\n"}, ["select", "m.csv", "-k", "1"]),
    "csv_only_header": (1, r"h\.csv", {"h.csv": "a,b\n"}, ["select", "h.csv", "-k", "1"]),
    "csv_quote": (1, r"q\.csv", {"q.csv": 'a,b\n1,"2\n3,4\n'}, ["select", "q.csv", "-k", "1"]),
    "csv_nan": (1, r"v\.csv:3: point 1", {"v.csv": "a,b\n1,2\nnan,4\n"},
                ["select", "v.csv", "-k", "1"]),
    "libsvm_index": (1, r"l\.svm", {"l.svm": "1 1:2 2:3\n-1 -4:1\n"}, ["select", "l.svm", "-k", "1"]),
    "libsvm_order": (1, r"l\.svm", {"l.svm": "1 1:2 2:3\n-1 5:1 3:1\n"},
                     ["select", "l.svm", "-k", "1"]),
    "npz_not_zip": (1, r"z\.npz", {"z.npz": b"PK\x03\x04broken"}, ["select", "z.npz", "-k", "1"]),
    "idx_cut": (1, "cut.idx", {"cut.idx": b"\0\0\x08\x03\0\0\0\x05\0\0\0\x02\0\0\0\x02\1\2"},
                ["select", "cut.idx", "-k", "1"]),
    "gzip_broken": (1, "b.gz", {"b.gz": b"\x1f\x8b\x08\0\0\0\0\0\0\3broken"},
                    ["select", "b.gz", "-k", "1"]),
    "inspect_missing": (1, "absent.npy", {}, ["inspect", "absent.npy"]),
    "control_characters": (1, r"\\x1b\[31m", {}, ["select", "\x1b[31mred\n.npy", "-k", "2"]),
}


class BadInput(Case):
    def check(self, code, pattern, files, args):
        self.write(GOOD, npy_bytes(random_rows(30, 4)))
        os.mkdir(self.path("d.npy"))
        for name, content in files.items():
            self.write(name, content)
        before = {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)}
        outputs = ["-o", "out.csv"] if args and args[0] == "select" and "-o" not in args else []
        with self.unchanged("out.csv"):
            outcome = self.run_program(*args, *outputs)
        after = {name: os.stat(self.path(name)).st_mtime_ns for name in os.listdir(self.folder)}
        after.pop("out.csv")
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(outcome.out, "", outcome)
        self.assertTrue(outcome.err.startswith("fwsr: "), outcome)
        self.assertTrue(outcome.err.endswith("\n"), outcome)
        self.assertEqual(outcome.err.count("\n"), 1, outcome)
        self.assertNotRegex(outcome.err, r"[\x00-\x09\x0b-\x1f\x7f]")
        self.assertRegex(outcome.err, re.compile(pattern, re.S))
        self.assertRegex(outcome.err[len("fwsr: ") :], ADVICE)
        self.assertEqual(before, after)


def add_tests(table, kind):
    for name, row in table.items():
        setattr(BadInput, f"test_{kind}_{name}", lambda self, row=row: self.check(*row))


add_tests(OPTIONS, "option")
add_tests(LABELS, "labels")
add_tests(FILES, "file")

if __name__ == "__main__":
    unittest.main()
