"""What scripts/reproduce runs."""

from __future__ import annotations

import argparse
import importlib
import shutil
import sys
import time
from pathlib import Path

from . import page, runner
from .store import Store, differences
from .studies import EXPERIMENTS

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "experiments/results"
#: How far a measurement may differ from the one on disk when it is made again. Picks do not depend
#: on the machine but for ties within rounding; classifiers stop within a tolerance of their own.
TOLERANCE = 0.02


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="scripts/reproduce",
        description="Runs the paper's experiments: one JSON line a measurement into "
        "experiments/results, tables and figures into docs/reproducing.md. What is on disk is not "
        "measured again.",
    )
    parser.add_argument(
        "experiment", nargs="*", default="all", choices=[*EXPERIMENTS, "all"],
        metavar="experiment",
        help=", ".join(EXPERIMENTS) + " or all (the default)",
    )
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--quick", action="store_true",
        help="a few small measurements of each, in minutes, into build/reproduce; those that "
        "experiments/results has too must agree with it",
    )
    ways.add_argument(
        "--check", action="store_true",
        help="measure all of it once more, into build/reproduce, and hold it against "
        "experiments/results",
    )
    ways.add_argument(
        "--again", action="store_true", help="forget what is on disk and measure all of it anew"
    )
    ways.add_argument(
        "--page", action="store_true", help="measure nothing, only write tables and figures"
    )
    options = parser.parse_args()
    asked = list(EXPERIMENTS) if "all" in options.experiment else options.experiment
    names = [name for one in asked for name in EXPERIMENTS[one]]

    apart = options.quick or options.check  # a test: measured each time, the page left alone
    folder = ROOT / "build/reproduce" if apart else ROOT / "docs"
    results = folder / "results" if apart else RESULTS
    if apart:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        shutil.copy(ROOT / "docs/reproducing.md", folder)

    start = time.monotonic()
    failed: list[str] = []
    wrong: list[str] = []
    for name in names:
        study = importlib.import_module(f"experiments.studies.{name}")
        path = results / f"{name}.jsonl"
        if options.again and path.exists():
            path.replace(path.with_suffix(".before"))  # kept until the new ones are there
        store = Store(path)
        keys = [] if options.page else list(study.keys(options.quick))
        reasons = runner.run(study, store, keys) if keys else []
        for text in reasons:
            print(f"not measured: {text}", file=sys.stderr)
        if any(" FAILED: " in text for text in reasons):
            failed.append(name)
        if options.again and not reasons:
            path.with_suffix(".before").unlink(missing_ok=True)
        if apart:
            wrong += _compared(name, store, Store(RESULTS / f"{name}.jsonl"))

    every = [name for group in EXPERIMENTS.values() for name in group]
    stores = {name: Store(results / f"{name}.jsonl") for name in every}
    unmarked: list[str] = []
    for name in names:
        if name in failed or not len(stores[name]):
            continue
        study = importlib.import_module(f"experiments.studies.{name}")
        parts = study.parts(stores, folder / "images/reproducing")
        unmarked += page.fill(folder / "reproducing.md", parts)

    for name in failed:
        print(f"{name} failed in part, and is left as it was on the page", file=sys.stderr)
    for text in unmarked:
        print(f"docs/reproducing.md has no place for {text}", file=sys.stderr)
    for text in wrong:
        print(f"differs from experiments/results: {text}", file=sys.stderr)
    shown = (folder / "reproducing.md").relative_to(ROOT)
    print(f"{time.monotonic() - start:.0f} s; tables and figures: {shown}")
    return 1 if failed or wrong or unmarked else 0


def _compared(name: str, ours: Store, before: Store) -> list[str]:
    both = [(key, result, before[key]) for key, result in ours if key in before]
    print(f"{name}: {len(both)} of {len(ours)} measurements held against experiments/results")
    return [
        f"{name} {key}: {text}"
        for key, result, old in both
        for text in differences(result, old, TOLERANCE)
    ]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\nstopped; what was measured is kept, and the next run goes on", file=sys.stderr)
        sys.exit(130)
