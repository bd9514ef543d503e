"""Recorded tables as plain files: a client that opens files reads the table's rows."""

from pathlib import Path

import pytest
from pytest_django import Settings

from deltaweb.delta.snapshot import Snapshot
from deltaweb.sharing.compatibility import misreadings
from deltaweb.sharing.plain import left_in_plain, needs_plain
from tests.functional.sharing_api.conftest import caller_of
from tests.functional.sharing_api.plain_client import plain_query, plain_rows
from tests.functional.sharing_api.ruled import Ruled
from tests.functional.sharing_clients.rows import of_rows
from tests.support.golden.golden_refusals import has_vectors, snapshot_or_refusal
from tests.support.golden.golden_tables import NAMES, expected_of, golden_table
from tests.support.pages.factories import new_share, new_shared_table, new_table

MARKS = ("deletion-vectors", "column-mapping", "type-widening", "timestamp-ntz")
REFUSED = {400, 409, 503}
STORED_OTHERWISE = [
    name
    for name in NAMES
    if any(feature.startswith(MARKS) for feature in expected_of(name)["features"])
]


@pytest.mark.parametrize("name", STORED_OTHERWISE)
def test_is_read_by_a_client_that_knows_no_feature(
    db: None,  # noqa: ARG001 (a database)
    tmp_path: Path,
    settings: Settings,
    name: str,
) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")
    settings.HOME = tmp_path
    table = golden_table(name)
    found = snapshot_or_refusal(table)
    registered = new_table("golden.golden", location=table.root)
    shared = new_shared_table(
        new_share("golden"), "golden.golden", table=registered, plain=True
    )
    staff, caller = Ruled(table, shared), caller_of("acme", shared.share)
    if not isinstance(found, Snapshot) or found.refusal is not None:
        assert plain_query(staff, caller).status_code in REFUSED
        return
    facts = (found.protocol, found.metadata, found.schema)
    misread = misreadings(*facts, has_deletion_vectors=has_vectors(found))
    left = left_in_plain(misread)

    if not left:
        staff.prepare()
        assert of_rows(plain_rows(staff, caller)) == of_rows(found.read().to_pylist())
        return
    assert not needs_plain(left)
    answer = plain_query(staff, caller)
    assert answer.status_code in REFUSED
