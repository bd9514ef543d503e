"""Runs every benchmark, or those named: `python -m tests.benchmarks [snapshot ...]`.

Words after a name that are no benchmark choose among its measurements, where it lets
choose: `python -m tests.benchmarks writing race`. What commands and workers of deltaweb
set for their processes is set here, too: the memory that Arrow takes depends on it.

Each benchmark runs in a process of its own. Some set Django up for their own database,
which a process does only once. The others run even if one fails.
"""

import importlib
import os
import pkgutil
import subprocess
import sys

import tests.benchmarks
from deltaweb.environment.own_process import VARIABLES

PREFIX = "bench_"


def main(wanted: list[str]) -> None:
    """Run the modules `bench_*` in order of name."""
    for name, value in VARIABLES.items():
        os.environ.setdefault(name, value)
    found = pkgutil.iter_modules(tests.benchmarks.__path__)
    known = [
        module.name.removeprefix(PREFIX)
        for module in found
        if module.name.startswith(PREFIX)
    ]
    chosen: dict[str, list[str]] = {} if wanted else {name: [] for name in known}
    for word in wanted:
        if word in known:
            chosen[word] = []
        elif chosen:
            [*chosen.values()][-1].append(word)
        else:
            sys.exit(f"{word!r} is none of {', '.join(known)}")
    if len(chosen) == 1:
        [(name, parts)] = chosen.items()
        importlib.import_module(f"tests.benchmarks.{PREFIX}{name}").main(*parts)
        return
    failed = []
    for name, parts in sorted(chosen.items()):
        print(f"\n== {name} ==", flush=True)
        call = (sys.executable, "-m", "tests.benchmarks", name, *parts)
        if subprocess.run(call, check=False).returncode:
            failed.append(name)
    if failed:
        sys.exit(f"failed, or missed a goal: {', '.join(failed)}")


if __name__ == "__main__":
    main(sys.argv[1:])
