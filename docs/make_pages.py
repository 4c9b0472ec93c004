"""Makes what the pages show, by running what they say.

The Python of docs/gallery.md, each `figure` saved as the picture that follows it there; the
examples, what they print kept in docs/outputs; docs/command_line.md, from the program's help;
docs/cpp_reference.md, from the headers; and the page of docs/report.md, for the site alone.

usage: make_pages.py      (in an environment with fwsr[docs])
"""

import io
import pathlib
import re
import subprocess
import sys
import tempfile

import fwsr
import fwsr_cli
import make_command_line
import make_cpp_reference
from PIL import Image

DOCS = pathlib.Path(__file__).resolve().parent
LARGEST = 100_000  # bytes of a picture
DPI = 150


def blocks(page):
    """Pairs of the Python of a block and the picture that follows it, if one does."""
    return re.findall(r"^```python\n(.*?)^```\n(?:\s*!\[[^\]]*\]\((images/[\w.]+)\))?", page,
                      re.DOTALL | re.MULTILINE)


def save(figure, path):
    """Few colours make a small file; those of small marks stay."""
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=DPI)
    image = Image.open(png).convert("RGB").quantize(256, method=Image.Quantize.MAXCOVERAGE,
                                                    dither=Image.Dither.NONE)
    path.parent.mkdir(exist_ok=True)
    image.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(DOCS.parent)}: {size / 1000:.0f} kB")
    if size > LARGEST:
        raise SystemExit(f"make_pages: {path} is larger than {LARGEST / 1000:.0f} kB; draw less")


def keep_output(example):
    """An example's words, from a run in a folder that is thrown away."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([sys.executable, str(example)], cwd=folder, check=True,
                              stdout=subprocess.PIPE, text=True)
    path = DOCS / "outputs" / f"{example.stem}.txt"
    path.parent.mkdir(exist_ok=True)
    path.write_text(done.stdout, encoding="utf-8")
    print(path.relative_to(DOCS.parent))


def main():
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    names = {}
    for code, picture in blocks(page):
        exec(compile(code, "gallery.md", "exec"), names)
        if picture:
            save(names["figure"], DOCS / picture)
    for example in sorted((DOCS.parent / "python" / "examples").glob("*.py")):
        keep_output(example)
    live = DOCS.parent / "build" / "site" / "digits_page.html"
    live.parent.mkdir(parents=True, exist_ok=True)
    digits = fwsr.read("digits")
    fwsr.select(digits, 20).report(live, digits)
    make_command_line.main(fwsr_cli.program())
    make_cpp_reference.main()


if __name__ == "__main__":
    main()
