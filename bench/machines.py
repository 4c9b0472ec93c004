"""Ranks of MPI beside threads of one process, on one machine: seconds, bytes on the wire, memory of every rank.

usage: machines.py PROGRAM_FOLDER [--points 1000000] [--features 128] [-k 50] [--repeats 5] [-o PAGE.md]

Runs alternate, and what is told is the median of the ratios: load of others then meets both alike.
"""

import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np


def largest_sizes(parent, found, stop):
    """VmHWM of every process that `parent` started, in bytes, until told to stop."""
    while not stop.is_set():
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{name}/status") as file:
                    status = dict(line.split(":", 1) for line in file)
                if int(status["PPid"]) == parent and status["Name"].strip() == "fwsr-mpi":
                    found[int(name)] = 1024 * int(status["VmHWM"].split()[0])
            except (OSError, KeyError, ValueError):
                pass
        time.sleep(0.05)


def run(command, folder):
    environment = {**os.environ, "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    sizes, stop = {}, threading.Event()
    watch = threading.Thread(target=largest_sizes, args=(process.pid, sizes, stop))
    watch.start()
    text = process.communicate()[0]
    stop.set()
    watch.join()
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return json.loads(text), sorted(sizes.values())


def work_seconds(result):
    return sum(result["seconds"][part] for part in ("setup", "steps", "certificate"))


def wire(result):
    note = next(n for n in result["plan"]["notes"] if n.startswith("rank 0 sent"))
    return [int(number) for number in re.findall(r"\d+", note)[1:]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--features", type=int, default=128)
    parser.add_argument("-k", type=int, default=50)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("-o", "--output")
    a = parser.parse_args()
    folder_of_programs = os.path.abspath(a.folder)
    alone = [os.path.join(folder_of_programs, "fwsr")]
    shared = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-q", "-n", "2",
              os.path.join(folder_of_programs, "fwsr-mpi")]
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(0)
        points = np.lib.format.open_memmap(os.path.join(folder, "x.npy"), "w+", np.float32, (a.points, a.features))
        for first in range(0, a.points, 50_000):
            points[first:first + 50_000] = rng.standard_normal(points[first:first + 50_000].shape, np.float32)
        del points
        ask = ["select", "x.npy", "--method", "fwsr", "--json", "--quiet"]
        ratios, steps, of_two, of_ranks, loads, sizes = [], [], [], [], [], []
        for _ in range(a.repeats):
            loads.append(os.getloadavg()[0])
            two, _none = run([*alone, *ask, "-k", str(a.k), "--threads", "2"], folder)
            ranks, sizes = run([*shared, *ask, "-k", str(a.k), "--threads", "1"], folder)
            if two["exemplars"] != ranks["exemplars"] or two["certificate"] != ranks["certificate"]:
                sys.exit("the answers differ")
            of_two.append(work_seconds(two))
            of_ranks.append(work_seconds(ranks))
            ratios.append(of_ranks[-1] / of_two[-1])
            steps.append(ranks["seconds"]["steps"] / two["seconds"]["steps"])
        more, _sizes = run([*shared, *ask, "-k", str(2 * a.k), "--threads", "1"], folder)
        few = wire(ranks)
        taken = len(more["trace"]) - len(ranks["trace"]) if "trace" in more else a.k
        per_step = [(m - f) / taken for m, f in zip(wire(more), few)]
        # Hardly any work: what a step takes then is messages.
        small = os.path.join(folder, "small.npy")
        np.save(small, rng.standard_normal((4096, a.features), np.float32))
        ask_small = ["select", "small.npy", "--method", "fwsr", "--json", "--quiet", "-k", "100"]
        near, _none = run([*alone, *ask_small, "--threads", "1"], folder)
        far, _sizes = run([*shared, *ask_small, "--threads", "1"], folder)
    own = a.points * a.features * 4 / 2
    lines += [
        f"`python3 bench/machines.py build/release/bin --points {a.points} --features {a.features} -k {a.k} "
        f"--repeats {a.repeats}`, float32, load {min(loads):.1f} to {max(loads):.1f} on {os.cpu_count()} cores", "",
        "| what | |", "|---|---|",
        f"| 2 threads of fwsr, seconds of set-up, steps and certificate | {statistics.median(of_two):.2f} |",
        f"| 2 ranks of fwsr-mpi, a thread each | {statistics.median(of_ranks):.2f} |",
        f"| ranks / threads, median of the pairs (least, most) | {statistics.median(ratios):.3f} "
        f"({min(ratios):.3f}, {max(ratios):.3f}) |",
        f"| of the steps alone | {statistics.median(steps):.3f} |",
        f"| bytes in all, sent by rank 0 / received | {few[0]} / {few[1]} |",
        f"| bytes a step, sent / received; messages | {per_step[0]:.0f} / {per_step[1]:.0f}; {per_step[2]:.1f} |",
        f"| a step of 4096 points, where nearly all is messages: one process / 2 ranks, microseconds | "
        f"{near['seconds']['steps'] * 1e4:.0f} / {far['seconds']['steps'] * 1e4:.0f} |",
        "| largest resident size of each rank beside its rows, MB | "
        + ", ".join(f"{(size - own) / 1e6:.0f}" for size in sizes) + " |"]
    text = "\n".join(lines) + "\n"
    print(text)
    if a.output:
        with open(a.output, "w", encoding="utf-8") as file:
            file.write("# Ranks of MPI\n\n" + text)


if __name__ == "__main__":
    main()
