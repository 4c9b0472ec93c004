"""Looked at before the core is loaded: OpenBLAS takes 128 MiB of address space for every core when it is, and where a
limit refuses them it asks again, for ever."""

from __future__ import annotations

import os

_BUFFER = 128 << 20
_LIBRARIES = 128 << 20


def _threads() -> int:
    """Those that OpenBLAS prepares for."""
    cores = len(os.sched_getaffinity(0))
    wanted = os.environ.get("OMP_NUM_THREADS", "")
    return min(cores, int(wanted)) if wanted.isdecimal() and int(wanted) > 0 else cores


def check_address_space() -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
    except (ImportError, OSError, ValueError, IndexError):
        return  # a system that does not say
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return
    needed = pages * resource.getpagesize() + _LIBRARIES + _threads() * _BUFFER
    if limit < needed:
        raise MemoryError(f"the address space is limited to {limit >> 20} MiB (ulimit -v), and "
                          f"{needed >> 20} MiB are needed to load fwsr; raise the limit, or set "
                          "OMP_NUM_THREADS=1 to need less")
