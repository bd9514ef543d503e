"""Runs a module as `deltaweb` runs its commands, for tests that start processes.

python -m tests.support.processes.lean tests.support.processes.racing_writers die ...

pandas would take longer to import than most of these tests last.
"""

import runpy
import sys

from deltaweb.environment.own_process import prepare_process, rare_collections

if __name__ == "__main__":
    prepare_process()
    del sys.argv[0]
    with rare_collections():
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
