"""Runs every benchmark, or those named: `python -m tests.benchmarks [snapshot ...]`."""

import importlib
import pkgutil
import sys

import tests.benchmarks

PREFIX = "bench_"


def main(wanted: list[str]) -> None:
    """Run the modules `bench_*` in order of name."""
    for module in pkgutil.iter_modules(tests.benchmarks.__path__):
        name = module.name.removeprefix(PREFIX)
        if module.name.startswith(PREFIX) and (not wanted or name in wanted):
            print(f"\n== {name} ==", flush=True)
            importlib.import_module(f"tests.benchmarks.{module.name}").main()


if __name__ == "__main__":
    main(sys.argv[1:])
