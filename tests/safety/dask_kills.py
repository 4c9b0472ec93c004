"""Workers of a Dask cluster killed at random moments of selections: every one ends with the bits of one process.

A campaign, not one of the tests (python/tests/test_dask.py kills at a few set moments):

    python3 tests/safety/dask_kills.py --rounds 100 --seed 7

with fwsr and Dask installed. A round starts a selection on workers that `dask worker` started, and kills one of them, or
two, after a random part of the time that it takes; every fourth round kills one that holds points, right before or after
a random question of the description, which is too short to be hit by chance. Others are started in their place, and may
join while it runs. Tells the phase and the time of each.
"""

import argparse
import contextlib
import os
import random
import signal
import statistics
import subprocess
import sys
import threading
import time

import dask.array as da
import distributed
import numpy as np

import fwsr
import fwsr.dask
from fwsr import _core
from fwsr.dask import _leader

N, D, K = 40_000, 32, 12
PHASES = ("set-up", "steps", "exchange", "description")


def same(found, alone):
    return (found.exemplars.tolist() == alone.exemplars.tolist()
            and all(np.array_equal(found.trace[name], alone.trace[name]) for name in alone.trace)
            and np.array_equal(found.weights, alone.weights)
            and (found.certificate.f, found.certificate.gap) == (alone.certificate.f, alone.certificate.gap)
            and found.refinement == alone.refinement)


class Moment:
    """Which phase a selection is in."""

    def __init__(self):
        self.phase = "set-up"

    def __call__(self, progress):
        self.phase = {"setup": "set-up", "certificate": "description"}.get(progress.stage, progress.stage)


def workers_for(address, running, wanted):
    """As many processes as are wanted, those that are there included."""
    running[:] = [process for process in running if process.poll() is None]
    while len(running) < wanted:
        running.append(subprocess.Popen(
            [sys.executable, "-m", "dask", "worker", address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
             "--death-timeout", "60"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))


class Questions:
    """All that is asked of workers, by kind; at one of them a worker is killed."""

    def __init__(self, at=-1, after=False, killed=None):
        self.at, self.after, self.killed, self.kinds = at, after, killed, []

    def description(self):
        """The questions of the end: the last that is answered with more than a nod is a sweep over the points, and rows
        are asked for right before it."""
        answered = [q for q, (_, tells) in enumerate(self.kinds) if not tells]
        first = self.kinds.index(self.kinds[answered[-1]])
        rows = self.kinds[first - 1]
        while self.kinds[first - 1] == rows:
            first -= 1
        return range(first, len(self.kinds))

    def __enter__(self):
        self._ask = ask = _leader.Leader.ask

        def asked(leader, question, broken_off):
            here = len(self.kinds) == self.at
            self.kinds.append((question[:4], _core.question_facts(question)[1]))
            if here and not self.after:
                self.kill(leader)
            answers = ask(leader, question, broken_off)
            if here and self.after:
                self.kill(leader)
            return answers

        _leader.Leader.ask = asked
        return self

    def __exit__(self, *_):
        _leader.Leader.ask = self._ask

    def kill(self, leader):
        place = leader.homes[-1].place
        os.kill(leader.client.run(os.getpid, workers=[place])[place], signal.SIGKILL)
        self.killed.append(("description", f"question {self.at} {'after' if self.after else 'before'}"))


OPTIONS = {"refine": "exchange"}
SHORT = {"max_iterations": 4, "fill": True}


def choose(client, lazy, moment):
    return fwsr.dask.select(lazy, K, method="fwsr", client=client, callback=moment, **OPTIONS)


def description_round(client, lazy, description, draw):
    killed, begun = [], time.monotonic()
    with Questions(draw.choice(description), draw.random() < 0.5, killed):
        found = choose(client, lazy, None)
    return found, killed, time.monotonic() - begun


def one_round(client, lazy, running, usual, draw):
    moment, killed = Moment(), []
    begun = time.monotonic()

    def kill(process):
        killed.append((moment.phase, round(time.monotonic() - begun, 3)))
        process.kill()

    timers = [threading.Timer(draw.uniform(0, usual), kill, (process,))
              for process in draw.sample(running, 2 if draw.random() < 0.2 else 1)]
    begun = time.monotonic()
    for timer in timers:
        timer.start()
    try:
        found = choose(client, lazy, moment)
    finally:
        seconds = time.monotonic() - begun
        for timer in timers:
            timer.cancel()
            timer.join()
    return found, killed, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--description", action="store_true", help="kill there in every round")
    parser.add_argument("--fill", action="store_true", help="short answers that are filled: kill while that is done")
    args = parser.parse_args()
    if args.fill:
        OPTIONS.clear()
        OPTIONS.update(SHORT)
    draw = random.Random(args.seed)
    X = np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)
    alone = fwsr.select(X, K, method="fwsr", **OPTIONS)
    failed, times, phases, hit = [], [], dict.fromkeys(PHASES, 0), 0
    running = []
    with distributed.LocalCluster(n_workers=0, dashboard_address=":0", silence_logs=50) as cluster, \
            distributed.Client(cluster) as client, contextlib.ExitStack() as stack:
        stack.callback(lambda: [process.kill() for process in running])
        workers_for(cluster.scheduler_address, running, args.workers)
        while len(client.nthreads()) < args.workers:
            time.sleep(0.1)
        lazy = da.from_array(X, chunks=(3_000, -1))
        usual = []
        for _ in range(3):
            begun = time.monotonic()
            with Questions() as questions:
                assert same(choose(client, lazy, None), alone)
            usual.append(time.monotonic() - begun)
        usual = statistics.median(usual)
        print(f"{args.rounds} rounds, seed {args.seed}, {args.workers} workers; undisturbed {usual:.2f} s")
        done = 0
        while done < args.rounds:
            if args.fill:
                late = range(len(questions.kinds) // 2, len(questions.kinds))
                found, killed, seconds = description_round(client, lazy, late, draw)
            elif args.description or done % 4 == 3:
                found, killed, seconds = description_round(client, lazy, questions.description(), draw)
            else:
                found, killed, seconds = one_round(client, lazy, running, usual, draw)
            workers_for(cluster.scheduler_address, running, args.workers)
            while len(client.nthreads()) < args.workers - 1:  # the last may join while the next one runs
                time.sleep(0.1)
            if not killed:
                continue
            done += 1
            hit += found.wire["lost"] > 0
            times.append(seconds)
            for phase, _ in killed:
                phases[phase] += 1
            good = same(found, alone)
            print(f"{done:4} {'same bits' if good else 'OTHER BITS'} {seconds:6.2f} s  lost {found.wire['lost']}  "
                  f"replayed {found.wire['replayed']:3}  {killed}", flush=True)
            if not good:
                failed.append(done)
    print(f"{args.rounds - len(failed)} of {args.rounds} with the same bits; kills by phase {phases}; a shard was lost in "
          f"{hit}; undisturbed {usual:.2f} s, with kills median {statistics.median(times):.2f} s, longest {max(times):.2f} s")
    raise SystemExit(bool(failed))


if __name__ == "__main__":
    main()
