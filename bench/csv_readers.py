"""Seconds that other readers of separated text take, into columns of float64.

usage: csv_readers.py FILE.csv    prints JSON
"""

import importlib.util
import json
import sys
import time


def by_polars(path):
    import polars

    return polars.read_csv(path, has_header=False).to_numpy()


def by_duckdb(path):
    import duckdb

    return duckdb.sql(f"select * from read_csv('{path}', header = false)").fetchnumpy()


def by_pandas(path):
    import pandas

    return pandas.read_csv(path, header=None).to_numpy()


READERS = {"polars": by_polars, "duckdb": by_duckdb, "pandas": by_pandas}


def main():
    found = {}
    for name, read in READERS.items():
        if importlib.util.find_spec(name) is None:
            continue
        read(sys.argv[1])
        found[name] = []
        for _ in range(5):
            start = time.perf_counter()
            read(sys.argv[1])
            found[name].append(time.perf_counter() - start)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
