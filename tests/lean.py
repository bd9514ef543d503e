"""Runs a module as `deltaweb` runs its commands, for tests that start processes.

python -m tests.lean tests.racing_writers die ...

pandas would take longer to import than most of these tests last.
"""

import runpy
import sys

from deltaweb.environment.garbage import few_looks
from deltaweb.environment.without_pandas import refuse_pandas

if __name__ == "__main__":
    refuse_pandas()
    del sys.argv[0]
    with few_looks():
        runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
