"""The small sets of points that the recorded answers are about, the same on every machine: only random() of Python's
generators is promised to stay as it is, and sums and products are rounded everywhere alike."""

import array
import gzip
import io
import random
import struct
import zipfile

from helpers import npy_bytes, npy_image


class Draws:
    """Numbers between -2 and 2, bell-shaped. `shake` moves each by up to that part of itself, to find out whose picks
    depend on rounding."""

    def __init__(self, seed, shake=0.0):
        self.bits = random.Random(seed)
        self.noise, self.shake = random.Random(seed + 1000), shake

    def number(self):
        value = sum(self.bits.random() for _ in range(4)) - 2
        return value * (1 + self.shake * (self.noise.random() - 0.5))

    def rows(self, points, features, sizes=(1.0,)):
        """Feature j is stretched by sizes[j % len(sizes)]: no two directions alike."""
        return [[self.number() * sizes[j % len(sizes)] for j in range(features)] for _ in range(points)]


    def near_a_line(self, points, features, off):
        """Points on a line and `off` away from it: what is left falls by the square of that with the first step, and
        with it go the digits of all that is carried from step to step."""
        along = self.rows(1, features)[0]
        return [[3 * at * x + off * self.number() for x in along] for at in self.rows(1, points)[0]]


STRETCHED = (3.0, 1.0, 2.0, 0.5, 1.5)


def blobs(points, features, clusters, seed, shake=0.0):
    """Points around as many centres, one after the other, and the cluster of each."""
    draws = Draws(seed, shake)
    centres = draws.rows(clusters, features, (8.0, 5.0, 3.0))
    labels = [i % clusters for i in range(points)]
    return [[c + draws.number() for c in centres[label]] for label in labels], labels


def sparse_rows(points, features, per_point, seed, shake=0.0):
    """(feature, value) of a few features of every point, sorted."""
    draws = Draws(seed, shake)
    chosen = [sorted(sorted(range(features), key=lambda _: draws.bits.random())[:per_point]) for _ in range(points)]
    return [[(j, 1.0 + abs(draws.number())) for j in row] for row in chosen]


def npz_of_csr(rows, features):
    """As scipy.sparse.save_npz writes it."""
    starts = [0]
    for row in rows:
        starts.append(starts[-1] + len(row))
    parts = {"indices": npy_bytes([j for row in rows for j, _ in row], "<i4"), "indptr": npy_bytes(starts, "<i4"),
             "data": npy_bytes([v for row in rows for _, v in row]),
             "shape": npy_bytes([len(rows), features], "<i8"),
             "format": npy_image("|S3", "()", []) + b"csr"}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name + ".npy", content)
    return file.getvalue()


def large(mebibytes=24, features=64):
    """float32 points, too many for the memory that some cases allow: pieces of one run of numbers, each with another
    first number and begun at another place."""
    bits = random.Random(12)
    numbers = array.array("f", (bits.random() - 0.5 for _ in range((1 << 18) + 1000)))
    pieces = []
    for piece in range(mebibytes):
        numbers[7 * piece] += 1
        pieces.append(numbers[7 * piece :][: 1 << 18].tobytes())
    return npy_image("<f4", f"({(mebibytes << 18) // features}, {features})", []) + b"".join(pieces)


def inner(a, b):
    return sum(x * y for x, y in zip(a, b))


def files(shake=0.0):
    """Names and contents. float32 has seven digits, and is shaken by more."""
    single = Draws(2, 1e3 * shake)
    points, labels = blobs(180, 7, 4, 3, shake)
    few = Draws(4, shake).rows(60, 5, STRETCHED)
    words = sparse_rows(150, 90, 6, 5, shake)
    bits = random.Random(6)
    pixels = bytes(int(256 * bits.random()) * (bits.random() < 0.6) for _ in range(200 * 36))
    idx = b"\0\0\x08\x03" + struct.pack(">3i", 200, 6, 6) + pixels
    table = "name,kind,a,b,c,d\n" + "".join(
        f"p{i},{'xyz'[i % 3]},{','.join(repr(v) for v in row)}\n"
        for i, row in enumerate(Draws(7, shake).rows(90, 4, STRETCHED)))
    return {
        "plain.npy": npy_bytes(Draws(1, shake).rows(260, 12, STRETCHED)),
        "long.npy": npy_bytes(Draws(8, shake).rows(1300, 6, STRETCHED)),
        "single.npy": npy_bytes(single.rows(600, 20, STRETCHED), "<f4"),
        "offset.npy": npy_bytes([[v + 50 for v in row] for row in single.rows(300, 10, STRETCHED)], "<f4"),
        "wide.npy": npy_bytes(Draws(9, shake).rows(50, 140, STRETCHED)),
        "widesingle.npy": npy_bytes(Draws(10, 1e3 * shake).rows(60, 130, STRETCHED), "<f4"),
        "flat.npy": npy_bytes(Draws(13, shake).near_a_line(200, 14, 1e-3)),
        "flatsingle.npy": npy_bytes(Draws(14, 1e3 * shake).near_a_line(260, 16, 5e-3), "<f4"),
        "flatwide.npy": npy_bytes(Draws(15, shake).near_a_line(60, 130, 1e-3)),
        "blobs.npy": npy_bytes(points),
        "blobs.txt": "".join(f"c{label}\n" for label in labels),
        "few.npy": npy_bytes(few),
        "fortran.npy": npy_image("<f8", "(60, 5)", [row[j] for j in range(5) for row in few], order="True"),
        "gram.npy": npy_bytes([[(1 + inner(a, b) / 8) ** 2 for b in few] for a in few]),
        "gramsingle.npy": npy_bytes([[(1 + inner(a, b) / 8) ** 2 for b in few] for a in few], "<f4"),
        "far.npy": npy_bytes([[sum(abs(x - y) for x, y in zip(a, b)) for b in few] for a in few]),
        "words.npz": npz_of_csr(words, 90),
        "words.svm": "".join(f"{i % 2} " + " ".join(f"{j + 1}:{v!r}" for j, v in row) + "\n"
                             for i, row in enumerate(words)),
        "narrow.svm": "".join(f"{i % 3} " + " ".join(f"{j + 1}:{v!r}" for j, v in row) + "\n"
                              for i, row in enumerate(sparse_rows(240, 14, 4, 11, shake))),
        "images.idx": idx,
        "images.idx.gz": gzip.compress(idx, mtime=0),
        "whole.npy": npy_bytes([[int(40 * v) for v in row] for row in few], "<i4"),
        "table.csv": table,
        "large.npy": large(),
        "large.txt": "".join(f"{'abca'[i % 4]}\n" for i in range(98304)),
        "numbers.csv": "".join(",".join(repr(v) for v in row) + "\n" for row in few),
    }
