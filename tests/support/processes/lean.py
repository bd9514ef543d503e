"""Runs a module as `deltaweb` runs its commands, for tests that start processes.

python -m tests.support.processes.lean tests.support.processes.racing_writers die ...

pandas would take longer to import than most of these tests last.
"""

import runpy
import subprocess
import sys
from pathlib import Path

from deltaweb.environment.own_process import prepare_process, rare_collections


def run_lean(module: str, *arguments: object) -> None:
    """Run a module of `tests.support.processes` in a process to its good end."""
    name = f"{__name__.rpartition('.')[0]}.{module}"
    subprocess.run(
        [sys.executable, "-m", __name__, name, *map(str, arguments)],
        check=True,
        cwd=Path(__file__).resolve().parents[3],
    )


if __name__ == "__main__":
    prepare_process()
    del sys.argv[0]
    with rare_collections():
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
