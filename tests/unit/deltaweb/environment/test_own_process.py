"""What our processes set for themselves, and the library for nobody."""

import json
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.slow

SETTINGS = """
import gc, json, os, sys, threading
def settings():
    return [dict(os.environ), [*map(str, sys.meta_path)], gc.get_threshold(),
            gc.isenabled(), threading.active_count()]
before = settings()
{what}
print(json.dumps([before, settings(), "pandas" in sys.modules]))
"""


def settings_around(what: str) -> Any:  # noqa: ANN401  # values of JSON
    done = subprocess.run(
        [sys.executable, "-c", SETTINGS.format(what=what)],
        capture_output=True,
        check=True,
        env={},
    )
    return json.loads(done.stdout)


def test_a_program_that_imports_the_library_keeps_its_settings() -> None:
    before, after, _ = settings_around(
        "import deltaweb, deltaweb.table, deltaweb.errors, deltaweb.parquet"
    )

    assert after == before


def test_a_process_of_ours_chooses_arrows_allocator_before_arrow_is_loaded() -> None:
    backend = "jemalloc" if sys.platform == "linux" else "mimalloc"

    *_, has_pandas = settings_around(
        "from deltaweb.environment.own_process import prepare_process\n"
        "prepare_process()\n"
        "import pyarrow\n"
        f"assert pyarrow.default_memory_pool().backend_name == {backend!r}"
    )

    assert not has_pandas


READS_A_HISTORY = """
from deltaweb.delta.log.commits import batch
from tests.support.stores.memory import MemoryTableStore
batch.BATCH_BYTES = 1
store = MemoryTableStore()
for version in range(4):
    store.log_files[f"{version:020d}.json"] = b'{"commitInfo":{}}'
import gc
enabled = [gc.isenabled() for _ in batch.read_commit_batches(store, range(4))]
assert len(enabled) == 4
"""


def test_who_reads_a_history_keeps_the_collector() -> None:
    settings_around(f"{READS_A_HISTORY}\nassert all(enabled) and gc.isenabled()")


def test_and_a_process_of_ours_has_it_back_afterwards_also_where_it_stops_early():
    settings_around(
        "from deltaweb.environment.own_process import prepare_process\n"
        "prepare_process()\n"
        f"{READS_A_HISTORY}\nassert not any(enabled) and gc.isenabled()\n"
        "batches = batch.read_commit_batches(store, range(4))\n"
        "next(batches)\n"
        "assert not gc.isenabled()\n"
        "batches.close()\n"
        "assert gc.isenabled()"
    )
