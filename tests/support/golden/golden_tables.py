"""Tables of many writers, recorded with what every reader must make of each version.

They are our own, and those of the folder that DELTAWEB_GOLDEN names.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from deltaweb.table import DeltaTable
from tests.support import matrix
from tests.support.golden.recorded import table_folders

FOLDERS = table_folders("tables")
NAMES = [*FOLDERS]
each_golden_table = pytest.mark.parametrize("name", NAMES)


def golden_folder(name: str) -> Path:
    """Where a recorded table is; never written."""
    return FOLDERS[name] / "table"


def golden_table(name: str) -> DeltaTable:
    """The table in place."""
    return DeltaTable(str(golden_folder(name)))


@cache  # of all they are two megabytes of text
def expected_of(name: str) -> dict[str, Any]:
    """What is recorded of a table; never changed."""
    text = (FOLDERS[name] / "expected.json").read_text(encoding="utf-8")
    expected: dict[str, Any] = json.loads(text)
    return expected


@cache
def traits_of(name: str) -> frozenset[str]:
    """What a table shows: its writer, features, types of columns, and errors."""
    expected = expected_of(name)
    versions = (expected.get("versions") or {}).values()
    kinds = ("error_category", "content_error")
    errors = {said.get(kind) for said in (expected, *versions) for kind in kinds}
    types = {kind for text in expected["schemas"].values() for kind in _types(text)}
    writer, told = f"by {name.partition('__')[0]}", expected["expect"]
    return frozenset({writer, told, *expected["features"], *types, *map(str, errors)})


def _types(schema: str) -> Iterator[str]:
    """The words for types in a schema; decimals are one."""
    for kind in re.findall(r'"(?:type|elementType|keyType|valueType)":"(\w+)', schema):
        yield f"of type {kind}"


# For work that takes long, or whose parts are asked for all tables elsewhere: every run
# has tables that show all traits between them, and `make test-all` every table.
some_golden_tables = matrix("name", NAMES, by=traits_of)
SOME_NAMES = [row.values[0] for row in some_golden_tables.args[1] if not row.marks]
