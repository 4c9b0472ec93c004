"""Looked at before the core is loaded: OpenBLAS takes 128 MiB of address space for every core when
it is, and where a limit refuses them it asks again, for ever."""

from __future__ import annotations

import os

_BUFFER = 128 << 20
_LIBRARIES = 128 << 20


def _threads() -> int:
    """Those that OpenBLAS prepares for."""
    cores = len(os.sched_getaffinity(0))
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    return min(cores, int(wanted)) if wanted.isdecimal() and int(wanted) > 0 else cores


def check_address_space() -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            fields = [int(field) for field in file.read().split()]
        used = {resource.RLIMIT_AS: ("ulimit -v", fields[0]),
                resource.RLIMIT_DATA: ("ulimit -d", fields[5])}
    except (ImportError, OSError, ValueError, IndexError):
        return  # a system that does not say
    for kind, (option, pages) in used.items():
        limit = resource.getrlimit(kind)[0]
        needed = pages * resource.getpagesize() + _LIBRARIES + _threads() * _BUFFER
        if limit != resource.RLIM_INFINITY and limit < needed:
            raise MemoryError(f"the address space is limited to {limit >> 20} MiB ({option}), and "
                              f"{needed >> 20} MiB are needed to load fwsr; raise the limit, or "
                              "set OMP_NUM_THREADS=1 to need less")
