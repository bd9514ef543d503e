"""Checksum files of recorded tables, held against what we read of their logs."""

import pytest

from deltaweb.delta.snapshot.checksum import ChecksumState, check_version
from tests.support.golden.golden_modern import NAMES, modern_table


@pytest.mark.parametrize("name", NAMES)
def test_those_of_the_reference_implementation_are_right(name: str) -> None:
    golden = modern_table(name)

    found = check_version(
        golden.table.store, golden.snapshot(golden.expected["latest_version"])
    )

    assert found.state in {ChecksumState.RIGHT, ChecksumState.MISSING}, found
