"""How time and memory of one selection grow with n, and with d at equal work n d^2 + k n d.

usage: bench/growth.py [PROGRAM]        (default build/release/bin/fwsr; standard library only)

Writes bench/results/growth.md: the median of three interleaved runs of each size, float32 points.
"""

import array
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parent.parent
K = 20
BY_POINTS = [(100_000, 128), (200_000, 128), (400_000, 128)]
WORK = 200_000 * (128 * 128 + K * 128)
BY_FEATURES = [(WORK // (d * d + K * d), d) for d in (64, 128, 256)]
REPEATS = 3


def make_points(program, path, n, d):
    """Clusters from `fwsr generate`, rewritten as float32."""
    command = [program, "generate", "blobs", "-o", str(path), "--points", str(n), "--dimensions", str(d)]
    subprocess.run(command, check=True, capture_output=True)
    raw = path.read_bytes()
    length = int.from_bytes(raw[8:10], "little")
    header = raw[10 : 10 + length].replace(b"<f8", b"<f4")
    values = array.array("d")
    values.frombytes(raw[10 + length :])
    path.write_bytes(raw[:10] + header + array.array("f", values).tobytes())


def run(program, path):
    command = [program, "select", str(path), "-k", str(K), "--json", "--quiet"]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


def measure(program, sizes):
    """For each size the median seconds of set-up, of one step and of the certificate, and memory."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for n, d in sizes:
            paths.append(pathlib.Path(folder) / f"{n}x{d}.npy")
            make_points(program, paths[-1], n, d)
        runs = [[run(program, path) for path in paths] for _ in range(REPEATS)]
        rows = []
        for (n, d), path, results in zip(sizes, paths, zip(*runs)):
            seconds = [r["seconds"] for r in results]
            steps = len(results[0]["trace"])
            rows.append({
                "n": n, "d": d, "steps": steps,
                "setup": statistics.median(s["setup"] for s in seconds),
                "step": statistics.median(s["steps"] / steps for s in seconds),
                "certificate": statistics.median(s["certificate"] for s in seconds),
                "file": path.stat().st_size / 2**20,
                "memory": statistics.median(r["peak_memory_bytes"] for r in results) / 2**20,
            })
        return rows


def table(rows):
    lines = ["| n | d | steps | set-up s | one step ms | certificate s | file MiB | peak memory MiB |",
             "|---|---|---|---|---|---|---|---|"]
    for r in rows:
        lines.append(f"| {r['n']} | {r['d']} | {r['steps']} | {r['setup']:.2f} | {1e3 * r['step']:.1f} | "
                     f"{r['certificate']:.2f} | {r['file']:.0f} | {r['memory']:.0f} |")
    return "\n".join(lines)


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bin/fwsr")
    version = subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout
    text = "\n".join([
        "# Growth of time and memory", "",
        f"`bench/growth.py`: k = {K}, float32 .npy through the command line, median of {REPEATS} interleaved runs.", "",
        "```", version.strip(), "```", "",
        "n, 2 n, 4 n at d = 128:", "", table(measure(program, BY_POINTS)), "",
        "d, 2 d, 4 d at equal n d^2 + k n d:", "", table(measure(program, BY_FEATURES)), "",
    ])
    (ROOT / "bench/results/growth.md").write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
