"""Names and texts that try to become markup or script, for tests of pages."""

import csv
import io
import random

HOSTILE = [
    "</script><script>window.broken = 1</script>", "<img src=x onerror=window.broken=1>",
    "\"><svg onload=window.broken=1>", "' onmouseover='window.broken=1", "<!--", "-->", "]]>",
    "${window.broken=1}", "{{7*7}}", "javascript:window.broken=1", "&lt;script&gt;", "\u2028window.broken=1",
    "\u202egnp.exe", "=cmd|' /C calc'!A0", "</style><style>*{display:none}</style>",
    "</title></textarea></template></noscript>", "\\u003cscript\\u003e", "<svg/onload=window.broken=1>", "__proto__",
    "constructor", "<a href=javascript:window.broken=1>x</a>", "<iframe src=//example.org>",
    "<base href=//example.org/>", "<meta http-equiv=refresh content=0>", "<link rel=stylesheet href=//example.org>",
    "`", "\\", "%3Cscript%3E", "\x7f\x1b[31mred", "\U0001f600" * 5, "<plaintext>", "<form action=//example.org>",
]


def hostile_names(count):
    """All different."""
    names = list(HOSTILE)
    while len(names) < count:
        i = len(names)
        names.append(f"{HOSTILE[i % len(HOSTILE)]}{HOSTILE[i * 7 % len(HOSTILE)]}{i}")
    return names[:count]


def hostile_table(points, labels):
    """A csv file whose names, texts, columns and labels are all hostile."""
    names, bits, out = hostile_names(labels), random.Random(1), io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["name", "text", *HOSTILE[:6], "label"])
    for i in range(points):
        numbers = [f"{bits.gauss(3 * (i % 5), 1):.4f}" for _ in range(6)]
        writer.writerow([f"{i}{names[i % labels]}", names[(i + 3) % labels] * 2, *numbers, names[i % labels]])
    return out.getvalue()
