"""fwsr compare with all methods on the digits, on Credit and on one class of Yale B, as one page.

usage: python bench/compare_tables.py PROGRAM OUT.md     (data: FWSR_DATA, or ../shared/data)
"""

import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import scipy.io

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = pathlib.Path(os.environ.get("FWSR_DATA", ROOT.parent / "shared" / "data"))


def credit(folder):
    """All points of the paper's cut and their classes, standardised by --scale."""
    arrays = []
    for part in ("X_f32", "y_u8"):
        arrays.append(numpy.load(DATA / "credit" / f"credit_paper5492_{part}.npy"))
    numpy.save(folder / "credit.npy", arrays[0])
    (folder / "credit.txt").write_text("".join(f"{int(v)}\n" for v in arrays[1]))
    return ["credit.npy", "--labels", "credit.txt", "-k", "20", "--scale", "standard"]


def yale(folder):
    """The images of the first person."""
    file = scipy.io.loadmat(DATA / "yaleb" / "YaleB_32x32.mat")
    numpy.save(folder / "yale1.npy", file["fea"][file["gnd"].ravel() == 1].astype(numpy.float32))
    return ["yale1.npy", "-k", "7"]


def digits(_folder):
    return ["digits", "-k", "20"]


SETS = (
    ("Digits, 1797 x 64, k = 20", digits),
    ("Credit, 5492 x 29, 2 classes, k = 20, features standardised", credit),
    ("Yale B, the 64 images of one person, 1024 pixels, k = 7", yale),
)


def main():
    program, out = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
    page = ["# All methods side by side", "",
            "Made by `python bench/compare_tables.py build/release/bin/fwsr bench/results/compare.md` (numpy and scipy); random methods 20 times, mean and standard deviation. "
            "What the columns mean: `fwsr compare --help`.", ""]
    for title, prepare in SETS:
        with tempfile.TemporaryDirectory() as name:
            try:
                arguments = prepare(pathlib.Path(name))
            except FileNotFoundError as missing:
                print(f"skipped: {title}: {missing.filename} is not there; set FWSR_DATA")
                continue
            command = ["compare", *arguments, "--methods", "all", "--time-limit", "60"]
            print(f"== fwsr {' '.join(command)}", flush=True)
            done = subprocess.run([program, *command], cwd=name, capture_output=True, text=True)
            if done.returncode:
                sys.exit(done.stderr)
            print(done.stdout + done.stderr, flush=True)
            page += [f"## {title}", "", f"    fwsr {' '.join(command)}", "",
                     *("    " + line for line in (done.stdout + done.stderr).splitlines()), ""]
    text = pathlib.Path(__file__).with_name("compare_words.md")
    page += [text.read_text()] if text.exists() else []
    out.write_text("\n".join(page))


if __name__ == "__main__":
    main()
