"""The studies by the name that scripts/reproduce knows them by.

A study is a module with

    keys(quick)       what is to be measured: dictionaries of plain values
    measure(**key)    one measurement: a dictionary; the same each time but for entries named after
                      seconds or bytes
    parts(stores, folder)  from the measurements of all studies (by name) the Markdown of each mark
                      in docs/reproducing.md; figures go into the folder
    ALONE             True when it measures time: then nothing else runs beside it
"""

#: What may be asked for, and which modules that runs, in order.
EXPERIMENTS: dict[str, tuple[str, ...]] = {
    "experiment1": ("convex",),
    "experiment2": ("blobs",),
    "experiment3": ("labelled", "times", "against_k"),
    "theorem": ("theorem",),
    "costs": ("costs",),
    "claims": ("claims",),
    "defaults": ("defaults",),
    "only-k": ("only_k", "shells"),
    "beyond": ("beyond", "million"),
}
