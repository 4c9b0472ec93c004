"""Runs the Python of docs/gallery.md, and saves each `figure` as the picture that follows it there.

usage: make_gallery.py      (in an environment with fwsr[docs])
"""

import io
import pathlib
import re

from PIL import Image

DOCS = pathlib.Path(__file__).parent
LARGEST = 100_000  # bytes of a picture
DPI = 150


def blocks(page):
    """Pairs of the Python of a block and the picture that follows it, if one does."""
    return re.findall(r"^```python\n(.*?)^```\n(?:\s*!\[[^\]]*\]\((images/[\w.]+)\))?", page,
                      re.S | re.M)


def save(figure, path):
    """Few colours make a small file."""
    png = io.BytesIO()
    figure.savefig(png, format="png", dpi=DPI)
    image = Image.open(png).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    path.parent.mkdir(exist_ok=True)
    image.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.relative_to(DOCS.parent)}: {size / 1000:.0f} kB")
    if size > LARGEST:
        raise SystemExit(f"make_gallery: {path} is larger than {LARGEST / 1000:.0f} kB; draw less")


def main():
    page = (DOCS / "gallery.md").read_text(encoding="utf-8")
    names = {}
    for code, picture in blocks(page):
        exec(compile(code, "gallery.md", "exec"), names)
        if picture:
            save(names["figure"], DOCS / picture)


if __name__ == "__main__":
    main()
