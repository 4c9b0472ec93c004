"""How the time of a step and of the set-up grows with machines and the time between them: measured, fitted, checked.

usage: growth.py PROGRAM_FOLDER [--dask] [-o PAGE.md]

Ranks of fwsr-mpi, and with --dask workers that `dask worker` starts, in network namespaces of this machine
(namespaces.py), with a thread each and points so few that nearly all of a step is messages. Every answer is compared
with that of one process, bit for bit. Needs root.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

import namespaces
import numpy as np
from namespaces import Network, address

SINGLE = ["--method", "fwsr", "--json", "--quiet", "--threads", "1"]


def hops(ranks):
    """Of one question, one after the other: to up to four ranks Open MPI sends one by one, to more along a binomial tree,
    as deep as the most bits of a rank; and back."""
    return 0 if ranks == 1 else 2 if ranks <= 4 else max(rank.bit_count() for rank in range(ranks)) + 1


def same(found, alone):
    left_out = ("seconds", "threads", "peak_memory_bytes", "plan", "data")
    return all(found[key] == alone[key] for key in alone if key not in left_out)


class Ranks:
    """fwsr-mpi on machines of a network, beside fwsr alone."""

    def __init__(self, programs, folder):
        self.programs, self.folder = os.path.abspath(programs), folder
        self.alone = {}

    def points(self, n, d):
        path = os.path.join(self.folder, f"{n}x{d}.npy")
        if not os.path.exists(path):
            np.save(path, np.random.default_rng(0).standard_normal((n, d), np.float32))
        return path

    def run(self, ranks, seconds, bandwidth, n, d, k):
        path = self.points(n, d)
        ask = ["select", path, "-k", str(k), *SINGLE]
        if (path, k) not in self.alone:
            done = subprocess.run([os.path.join(self.programs, "fwsr"), *ask], capture_output=True, check=True)
            self.alone[path, k] = json.loads(done.stdout)
        with Network(ranks, seconds, bandwidth) as network:
            agent = os.path.join(self.folder, "agent")  # in place of ssh
            own = network.names[0].rsplit("-", 1)[0]
            with open(agent, "w", encoding="utf-8") as file:
                file.write(f'#!/bin/bash\nhost=$1; shift; export TMPDIR={self.folder}/$host; mkdir -p $TMPDIR\n'
                           f'exec ip netns exec {own}-$((${{host##*.}} - 1)) bash -c "$*"\n')
            os.chmod(agent, 0o755)
            where = ["--host", ",".join(map(address, range(ranks))), "-n", str(ranks), "--map-by", "node"]
            only = ["--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "10.77.0.0/24",
                    "--mca", "oob_tcp_if_include", "10.77.0.0/24", "--mca", "plm_rsh_agent", agent]
            command = ["mpirun", "--allow-run-as-root", "-q", *where, *only, os.path.join(self.programs, "fwsr-mpi"), *ask]
            done = subprocess.run(network.inside(0, command), capture_output=True, timeout=300)
        if done.returncode:
            sys.exit(f"{shlex.join(command)}: {done.stderr.decode()[-2000:]}")
        found = json.loads(done.stdout)
        if not same(found, self.alone[path, k]):
            sys.exit(f"{ranks} ranks: the answers differ")
        return found


def fit(rows, terms):
    """Coefficients of the terms, by least squares of the relative errors."""
    wanted = np.array([row["took"] for row in rows])
    of = np.array([[term(row) for term in terms] for row in rows])
    return np.linalg.lstsq(of / wanted[:, None], np.ones(len(rows)), rcond=None)[0]


def predicted(row, terms, found):
    return sum(c * term(row) for c, term in zip(found, terms))


def table(rows, terms, found, checks, what):
    lines = [f"| {what} | | seconds | model | |", "|---|---|---|---|---|"]
    for row in [*rows, *checks]:
        model = predicted(row, terms, found)
        lines.append(f"| {row['machines']} machines, {1e3 * row['one_way']:g} ms one way | {row['more']} | {row['took']:.6f} | "
                     f"{model:.6f} | {100 * (model / row['took'] - 1):+.0f} %{'' if row in rows else ', not in the fit'} |")
    return lines


def of_ranks(programs, folder):
    ranks = Ranks(programs, folder)

    def step(count, one_way, d):
        found = ranks.run(count, one_way, 0.0, 8 * 1024, d, 40)
        steps = found["trace"]
        return {"machines": count, "one_way": one_way, "d": d, "more": f"d = {d}",
                "took": found["seconds"]["steps"] / len(steps)}

    cores = len(os.sched_getaffinity(0))
    terms = [lambda r: 1.0, lambda r: r["machines"] - 1.0, lambda r: max(0.0, r["machines"] - cores) ** 2,
             lambda r: hops(r["machines"]) * r["one_way"]]
    rows = [step(count, one_way, 128) for count in (1, 2, 4, 8) for one_way in (0.0, 0.001, 0.004)]
    checks = [step(6, 0.002, 128), step(3, 0.005, 256)]
    found = fit(rows, terms)
    lines = table(rows, terms, found, checks, "a step")
    lines += ["", f"A step: {1e6 * found[0]:.0f} us + {1e6 * found[1]:.0f} us for each more machine + {1e6 * found[2]:.0f} us "
              f"x (machines - {cores})^2, as they share {cores} cores, + {found[3]:.2f} x hops x the time one way.", ""]

    def set_up(count, bandwidth, d):
        found = ranks.run(count, 0.0002, bandwidth, 64 * 1024, d, 5)
        segments = 64 - 64 // count
        return {"machines": count, "one_way": 0.0002, "d": d, "bytes": 8 * d * d * segments, "bandwidth": bandwidth,
                "more": f"d = {d}, {bandwidth / 1e6:g} MB/s" if bandwidth else f"d = {d}, no limit",
                "took": found["seconds"]["setup"]}

    free = {(count, d): set_up(count, 0.0, d)["took"] for count in (2, 4, 8) for d in (64, 128, 192)}
    terms = [lambda r: free[r["machines"], r["d"]], lambda r: r["bytes"] / r["bandwidth"]]
    rows = [set_up(count, bandwidth, d) for count in (2, 8) for bandwidth in (125e6, 31e6) for d in (64, 128)]
    checks = [set_up(4, 62e6, 192)]
    found = fit(rows, terms)
    lines += table(rows, terms, found, checks, "set-up, 65,536 points")
    lines += ["", f"Set-up: {found[0]:.2f} x that without a limit + {found[1]:.2f} x the bytes of the segments to the first "
              "rank / bandwidth.", ""]
    return lines


# ------------------------------------------------------------------------------------------------ Dask


def dask_seconds(count, one_way, d, X, alone):
    """Of a round trip, with the scheduler on a machine of its own and the client on another."""
    from distributed import Client

    import fwsr.dask

    with Network(count + 2, one_way) as network:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        python = [sys.executable, "-m", "dask"]
        running = [network.start(0, [*python, "scheduler", "--host", address(0), "--no-dashboard"], **quiet)]
        try:
            for machine in range(1, count + 1):
                running.append(network.start(machine, [*python, "worker", f"{address(0)}:8786", "--nthreads", "1",
                                                       "--host", address(machine), "--no-dashboard", "--no-nanny"], **quiet))
            reader, writer = os.pipe()
            child = os.fork()  # the client is on a machine, too
            if child == 0:
                code = 1
                try:
                    namespaces.enter(network.names[count + 1])
                    import dask.array as da

                    with Client(f"{address(0)}:8786", timeout=60) as client:
                        client.wait_for_workers(count, timeout=120)
                        lazy = da.from_array(X, chunks=(1024, -1)).persist()
                        fwsr.dask.select(lazy, 5, method="fwsr", client=client)  # imports
                        begun, took = {}, []

                        def told(progress):
                            now = time.perf_counter()
                            if "at" in begun and progress.stage == "steps":
                                took.append(now - begun["at"])
                            begun["at"] = now

                        found = fwsr.dask.select(lazy, 30, method="fwsr", client=client, callback=told)
                        good = (found.exemplars.tolist() == alone.exemplars.tolist()
                                and found.certificate == alone.certificate)
                        os.write(writer, json.dumps([good, float(np.median(took)), found.wire]).encode())
                    code = 0
                finally:
                    os._exit(code)
            os.close(writer)
            with os.fdopen(reader) as file:
                text = file.read()
            os.waitpid(child, 0)
        finally:
            for process in running:
                process.kill()
                process.wait()
    good, took, wire = json.loads(text)
    if not good:
        sys.exit(f"{count} workers: the answers differ")
    return {"machines": count, "one_way": one_way, "d": d, "more": f"d = {d}", "took": took, "wire": wire}


def of_dask():
    import fwsr

    d = 128
    X = np.random.default_rng(0).standard_normal((8 * 1024, d), np.float32)
    alone = fwsr.select(X, 30, method="fwsr")
    terms = [lambda r: 1.0, lambda r: float(r["machines"]), lambda r: r["one_way"]]
    rows = [dask_seconds(count, one_way, d, X, alone) for count in (1, 4) for one_way in (0.0, 0.002)]
    checks = [dask_seconds(2, 0.001, d, X, alone)]
    found = fit(rows, terms)
    return [*table(rows, terms, found, checks, "a step on Dask"), "",
            f"A step: {1e3 * found[0]:.1f} ms + {1e3 * found[1]:.2f} ms for each worker + {found[2]:.1f} x the time one way.", ""]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("-o", "--output")
    a = parser.parse_args()
    if why := namespaces.why_not():
        sys.exit(why)
    with tempfile.TemporaryDirectory() as folder:
        lines = of_dask() if a.dask else of_ranks(a.folder, folder)
    text = "\n".join(lines)
    print(text)
    if a.output:
        with open(a.output, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
