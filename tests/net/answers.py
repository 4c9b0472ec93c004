"""Facts: the answers of a run as named values, to be recorded, and compared with a tolerance or bit by bit."""

import hashlib
import json
import math
import re

# What is never compared: it differs from run to run, from machine to machine, or with the version.
UNSTEADY = re.compile(r"(.*_)?seconds|threads|version|schema|memory_bytes|memory_per_thread|peak_memory_bytes|peak_bytes")
# What is not recorded because it repeats something else (what was asked for, what was read, what the plans among the
# cases of text say, columns once more), counts operations for some number of threads, or bounds the rounding of a run.
REPEATED = set("""options data picks assigned.npy eta_in_rms why points features data_bytes passes f_error gap_error
    setup_flops step_flops""".split())
# Longer lists are recorded as a few sums, or when they count something as a digest.
LONG = 24
# What rounding may move, as a part of f(0) for f and gap, and of the largest number of a list for all others.
# docs/forms.md promises f and gap to about 1e-6 f(0) where products are in float32, 1e-5 where a factor is, and two
# machines may be off in opposite directions. In double the sums of these small sets keep eleven digits from one
# processor to another (measured: 5e-12 at most, 3e-7 in float32); two more are for processors nobody tried.
NEAR_DOUBLE, NEAR_SINGLE, NEAR_FACTOR = 1e-9, 2e-6, 2e-5
# Numbers in text that are measured in floating point; whole ones count something.
NUMBER = re.compile(r"([-+]?\d+\.\d+(?:e[-+]?\d+)?|[-+]?\d+e[-+]?\d+)")


def facts_of(tree, whole, path=""):
    """The leaves of what JSON holds by their paths; a list of like objects becomes one list for each key. With
    `whole` everything that can be compared on one machine, else what is worth recording."""
    found = {}
    if isinstance(tree, dict):
        for key, value in tree.items():
            if not UNSTEADY.fullmatch(key) and (whole or key not in REPEATED):
                found.update(facts_of(value, whole, f"{path}.{key}" if path else key))
    elif isinstance(tree, list) and tree and all(isinstance(one, dict) for one in tree):
        if any(isinstance(value, (dict, list)) for one in tree for value in one.values()):
            for number, one in enumerate(tree):
                found.update(facts_of(one, whole, f"{path}[{number}]"))
        else:
            columns = dict.fromkeys(key for one in tree for key in one)
            return facts_of({key: [one.get(key) for one in tree] for key in columns}, whole, path)
    elif whole or tree not in (None, [], ""):
        found[path] = tree if whole else in_short(tree)
    return found


def in_short(value):
    """A long list of measured numbers by sums that no change of any of them leaves alone."""
    if not isinstance(value, list) or any(isinstance(one, (str, list)) for one in value):
        return value
    if len(value) > 2 and len(set(value)) == 1:
        return f"{len(value)} times {value[0]}"
    if len(value) <= LONG:
        return value
    numbers = [0.0 if one is None else one for one in value]
    if not any(isinstance(one, float) for one in value):
        return f"{len(value)} numbers, {hashlib.sha256(json.dumps(value).encode()).hexdigest()[:16]}"
    mixed = sum(one * math.cos(number) for number, one in enumerate(numbers))
    return [len(value), math.fsum(numbers), math.fsum(map(abs, numbers)), mixed]


def near_of(answer):
    """How near two answers of this run must be: double, products in float32, or a factor in float32."""
    options, data = answer.get("options", {}), answer.get("data", {})
    if answer.get("plan", {}).get("method") == "fw-coreset":  # the end of an iteration, not a sum
        return NEAR_SINGLE
    if data.get("type", "float64") in ("float64", "int32", "int64") or options.get("precise"):
        return NEAR_DOUBLE
    rank = answer.get("plan", {}).get("rank") or options.get("rank")  # the default method finds one itself
    return NEAR_FACTOR if rank else NEAR_SINGLE


def size_of(facts, path, value):
    """What differences of the numbers at this path are a part of."""
    numbers = [abs(one) for one in (value if isinstance(value, list) else [value]) if isinstance(one, (int, float))]
    largest = max(numbers, default=0.0)
    head, _, key = path.rpartition(".")
    if key in ("f", "gap"):
        while head and f"{head}.f_at_zero" not in facts:
            head = head.rpartition(".")[0]
        # The first gap of a run is twice beta times the largest score: what is subtracted in all later ones.
        first = facts.get(f"{head}.trace.gap" if head else "trace.gap", [0.0]) if key == "gap" else [0.0]
        at_zero = facts.get(f"{head}.f_at_zero" if head else "f_at_zero") or 0.0
        return max(largest, at_zero, *(one for one in first if isinstance(one, float)))
    return max(largest, 1.0) if "error" in key or key in ("score", "mmd", "mean", "deviation") else largest


def difference(expected, found, size):
    """0 where equal, how far apart as a part of `size`, or infinity for what must be equal and is not."""
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        return max((difference(one, other, size) for one, other in zip(expected, found)), default=0.0)
    if isinstance(expected, str) and isinstance(found, str):
        return difference_of_text(expected, found)
    if type(expected) is float and type(found) is float:
        apart = abs(expected - found)
        return 0.0 if apart == 0 else apart / size if math.isfinite(apart) and size > 0 else math.inf
    return 0.0 if expected == found and type(expected) is type(found) else math.inf


def difference_of_text(expected, found):
    """Words are equal or not; numbers among them that are measured may be near each other."""
    words, others = NUMBER.split(expected), NUMBER.split(found)
    if len(words) != len(others) or words[::2] != others[::2]:
        return math.inf
    pairs = [(float(one), float(other)) for one, other in zip(words[1::2], others[1::2])]
    return max((abs(one - other) / abs(one) if one else abs(other) for one, other in pairs), default=0.0)


def differences(expected, found):
    """Every fact that is not the same bits, with how far apart: (path, difference), as far as they go."""
    apart = [(path, math.inf) for path in expected.keys() ^ found.keys()]
    for path in expected.keys() & found.keys():
        if json.dumps(expected[path]) != json.dumps(found[path]):
            size = size_of(expected, path, expected[path])
            apart.append((path, difference(expected[path], found[path], size)))
    return sorted(apart)


def shown(facts, path):
    text = json.dumps(facts[path]) if path in facts else "nothing"
    return text if len(text) < 400 else text[:400] + " ..."


def complaint(name, expected, found, near, before="recorded"):
    """What to say about the first fact that is farther than `near` from what it was before, or None; where near is
    None, about the first that has other bits."""
    for path, apart in differences(expected, found):
        if near is None or apart > near:
            by = "" if apart == math.inf else f"\n  apart by {apart:.2g}"
            by += f", at most {near:.2g} is rounding" if by and near is not None else ""
            return f"{name}: {path}\n  {before:8} {shown(expected, path)}\n  now      {shown(found, path)}{by}"
    return None


def write(path, answers):
    """A line with the name of a case, then one for each of its facts, all sorted: a diff shows what changed, and of
    which case."""
    with open(path, "w") as file:
        for name, facts in sorted(answers.items()):
            file.write(name + "\n")
            file.writelines(f"    {fact} = {json.dumps(value)}\n" for fact, value in sorted(facts.items()))


def read(path):
    answers, name = {}, ""
    with open(path) as file:
        for line in file:
            if line.startswith(" "):
                fact, value = line.strip().split(" = ", 1)
                answers[name][fact] = json.loads(value)
            else:
                name = line.strip()
                answers[name] = {}
    return answers


def summary(equal, unequal):
    """A last line for a person, and the exit code: unequal holds the differences of every case that has some."""
    print(f"{equal} answers with equal bits, {len(unequal)} with others")
    for key in ("f", "gap"):
        apart = [d for found in unequal.values() for path, d in found if re.fullmatch(rf"(.*\.)?{key}", path)]
        far = [d for d in apart if math.isfinite(d)]
        if far:
            print(f"  largest difference of {key}: {max(far):.2g} of f(0)")
        if len(far) < len(apart):
            print(f"  {key} is missing, or that of other steps: {len(apart) - len(far)} times")
    return int(bool(unequal))
