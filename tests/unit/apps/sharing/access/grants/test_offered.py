"""A version as a rule offers it: signed files, rewritten ones, and no others."""

from datetime import timedelta
from pathlib import Path

import pytest
from pytest_django.fixtures import Settings

from apps.sharing.access.grants.offered import (
    offered_version,
    ready_versions,
    ruled_version,
)
from apps.sharing.access.grants.rules import TableRule
from apps.sharing.models import PreparedFile, PreparedVersion, SharedTable
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from deltaweb.sharing.errors import FileCopyError, VersionNotReadyError
from tests.support.logs.delta_logs import add, metadata, protocol
from tests.support.logs.local_logs import LocalLog, stats_of, typed_schema
from tests.support.pages.factories import NOW, new_share, new_shared_table
from tests.support.pages.prepared_files import new_prepared_file

pytestmark = pytest.mark.django_db
RULE = TableRule(("id < 5",), None, {})
HIDING = TableRule(("id < 5",), frozenset({"id"}), {})
LATER = NOW + timedelta(days=1)


@pytest.fixture(autouse=True)
def _store(tmp_path: Path, settings: Settings) -> None:
    settings.PREPARED_FILES = str(tmp_path / "prepared")


@pytest.fixture
def shared() -> SharedTable:
    return new_shared_table()


@pytest.fixture
def version(tmp_path: Path) -> SharedVersion:
    """Of four files one is inside, one outside, and two are on the border."""
    files = {"inside": (1, 4), "first": (4, 9), "outside": (5, 9), "second": (0, 5)}
    log = LocalLog(tmp_path).start(
        *(
            add(path, size=1, stats=stats_of(2, {"id": low}, {"id": high}))
            for path, (low, high) in files.items()
        )
    )
    return SharedTableReader().open_version(log.table, index_folder=None)


def prepare(
    shared: SharedTable, rule: TableRule, version: SharedVersion, *num_rows: int
) -> list[str]:
    """Make the first files that are to be rewritten ready; return all of their keys."""
    keys = [key for part in ruled_version(shared, rule, version).keys for key in part]
    for key, rows in zip(keys, num_rows, strict=False):
        new_prepared_file(shared, key, rule=rule.digest, num_rows=rows)
    return keys


def offered(shared: SharedTable, rule: TableRule, version: SharedVersion) -> set[str]:
    """The paths of the files that are offered."""
    found = offered_version(shared, rule, version, now=LATER).select()
    return {path for batch in found.batches() for path in batch["path"].to_pylist()}


def test_a_whole_table_is_offered_as_it_is(shared, version) -> None:
    whole = TableRule((), None, {})

    assert offered_version(shared, whole, version, now=NOW) is version


@pytest.mark.parametrize("num_ready", [0, 1])
def test_a_version_is_not_offered_before_all_files_are_ready(
    shared: SharedTable, version: SharedVersion, num_ready: int
) -> None:
    prepare(shared, RULE, version, *[1] * num_ready)

    with pytest.raises(VersionNotReadyError) as caught:
        offered_version(shared, RULE, version, now=NOW)

    assert (caught.value.table, caught.value.version) == (shared.full_name, 0)
    ruled = ruled_version(shared, RULE, version)
    assert ruled.num_missing == 2 - num_ready
    assert ruled.version is version


def test_files_that_are_signed_and_rewritten_are_offered(shared, version) -> None:
    keys = prepare(shared, RULE, version, 1, 2)

    assert len(keys) == 2
    paths = {f"{key}.parquet" for key in keys}
    assert offered(shared, RULE, version) == {"inside", *paths}
    files = ruled_version(shared, RULE, version).files()
    assert [file.key for file in files] == keys


def test_a_rewritten_file_without_rows_is_not_offered(shared, version) -> None:
    keys = prepare(shared, RULE, version, 0, 2)

    assert offered(shared, RULE, version) == {"inside", f"{keys[1]}.parquet"}


def test_hidden_columns_are_told_of_nowhere(shared, version) -> None:
    keys = prepare(shared, HIDING, version, 1, 2, 3)

    made = offered_version(shared, HIDING, version, now=NOW)

    assert len(keys) == 3
    assert offered(shared, HIDING, version) == {f"{key}.parquet" for key in keys}
    assert made.schema.names == ("id",)
    assert "price" not in (made.metadata.schema_string or "")


def test_files_of_another_rule_or_table_are_not_offered(shared, version) -> None:
    other = new_shared_table(new_share("other"), "crm.other")
    prepare(other, RULE, version, 1, 1)
    prepare(shared, TableRule(("id <= 4",), None, {}), version, 1, 1)

    with pytest.raises(VersionNotReadyError):
        offered_version(shared, RULE, version, now=NOW)


def test_that_files_are_offered_is_noted(shared, version) -> None:
    prepare(shared, RULE, version, 1, 1)
    new_prepared_file(shared, "unused", rule=RULE.digest)

    offered_version(shared, RULE, version, now=LATER)

    used = PreparedFile.objects.filter(last_used_at=LATER)
    assert used.count() == 2
    assert not used.filter(key="unused").exists()


def test_a_file_with_a_variant_is_never_rewritten(shared, tmp_path: Path) -> None:
    features = {name: ["variantType"] for name in ("readerFeatures", "writerFeatures")}
    schema = typed_schema(id="long", v="variant")
    log = LocalLog(tmp_path / "variants").commit(
        0, protocol(3, 7, **features), metadata(schemaString=schema), add("a")
    )
    version = SharedTableReader().open_version(log.table, index_folder=None)

    with pytest.raises(FileCopyError) as caught:
        ruled_version(shared, RULE, version)

    assert caught.value.column == "v"
    assert ruled_version(shared, HIDING, version).num_missing == 1
    whole = TableRule((), None, {}, is_plain=True)
    assert offered_version(shared, whole, version, now=NOW).num_files == 1


def test_the_newest_twenty_versions_that_are_ready_are_listed(shared) -> None:
    other = new_shared_table(new_share("other"), "crm.other")
    facts = {"num_signed": 1, "num_rewritten": 1, "num_absent": 1, "size_bytes": 1}
    of = [(shared, RULE, range(0, 50, 2)), (shared, HIDING, [7]), (other, RULE, [9])]
    for table, rule, versions in of:
        for number in versions:
            PreparedVersion.objects.create(
                shared_table=table,
                rule=rule.digest,
                version=number,
                prepared_at=NOW,
                **facts,
            )

    assert ready_versions(shared, RULE) == [*range(48, 8, -2)]
    assert ready_versions(other, HIDING) == []
