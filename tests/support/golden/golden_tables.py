"""Tables of many writers, recorded with what every reader must make of each version.

They lie in a folder that DELTAWEB_GOLDEN names; without it there are none, and no case
is collected.
"""

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from deltaweb.table import DeltaTable
from tests.support.golden.golden_modern import ROOT

TABLES = ROOT / "tables"
NAMES = sorted(path.parent.name for path in TABLES.glob("*/expected.json"))
each_golden_table = pytest.mark.parametrize("name", NAMES)
with_golden_tables = pytest.mark.skipif(
    not NAMES, reason="DELTAWEB_GOLDEN names no folder"
)


def golden_folder(name: str) -> Path:
    """Where a recorded table is; never written."""
    return TABLES / name / "table"


def golden_table(name: str) -> DeltaTable:
    """The table in place."""
    return DeltaTable(str(golden_folder(name)))


@lru_cache(maxsize=4)  # tests of one table follow each other
def expected_of(name: str) -> dict[str, Any]:
    """What is recorded of a table; never changed."""
    text = (TABLES / name / "expected.json").read_text(encoding="utf-8")
    expected: dict[str, Any] = json.loads(text)
    return expected
