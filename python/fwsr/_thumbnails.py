"""Small pictures out of files, by Pillow where it is installed."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable

#: The longer side, in pixels: what a card shows of it, and a little more.
SIDE = 192
#: What is read; Pillow would start other programs for some more.
FORMATS = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")
#: More are no picture to be shown, but an attempt to fill the memory.
MOST_PIXELS = 100_000_000
#: Files that are as small as a thumbnail stay as they are.
SMALL = 8_000


def thumbnails() -> Callable[[str], tuple[str, str]] | None:
    """What makes (a source, '') or ('', what is wrong) of a path; None without Pillow."""
    try:
        from PIL import Image, ImageOps
    except ImportError:
        return None

    def thumbnail(path: str) -> tuple[str, str]:
        try:
            with Image.open(path, formats=FORMATS) as image:
                kind = (image.format or "").lower()
                width, height = image.size
                if width * height > MOST_PIXELS:
                    return "", (f"{path}: has {width} x {height} pixels, and thumbnails are made "
                                f"of at most {MOST_PIXELS:,}; make a smaller copy of it")
                if kind in ("png", "jpeg") and max(width, height) <= SIDE:
                    with open(path, "rb") as file:
                        content = file.read(SMALL + 1)
                    if len(content) <= SMALL:
                        return _source(kind, content), ""
                image.draft("RGB", (SIDE, SIDE))  # jpeg: no more is decoded than needed
                small = ImageOps.exif_transpose(image)
                small.thumbnail((SIDE, SIDE))
                if small.mode not in ("RGB", "L"):
                    small = small.convert("RGBA")
                    paper = Image.new("RGBA", small.size, "white")
                    small = Image.alpha_composite(paper, small).convert("RGB")
                out = io.BytesIO()
                small.save(out, "JPEG", quality=80, optimize=True)
                return _source("jpeg", out.getvalue()), ""
        except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as e:
            return "", f"{path}: {e}".encode("utf-8", "replace").decode("utf-8")

    return thumbnail


def _source(kind: str, content: bytes) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
