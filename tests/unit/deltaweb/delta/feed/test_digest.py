from typing import Any

import pytest

from deltaweb.delta.errors import PredicateError
from deltaweb.delta.feed import digest
from deltaweb.delta.feed.changed_rows import FeedRequest, FeedScan
from deltaweb.delta.feed.digest import (
    Digester,
    DigestRequest,
    FeedDigest,
    digest_changes,
)
from tests.support import cases
from tests.support.tables.fed_table import FedTable, renamed_things, things

PRE, POST = "update_preimage", "update_postimage"


@pytest.fixture
def fed() -> FedTable:
    return renamed_things()


def digested(fed: FedTable, key: tuple[str, ...] = ("id",), **more: Any) -> FeedDigest:  # noqa: ANN401 (of `DigestRequest`)
    feed = FeedScan(fed.store, FeedRequest())
    files = feed.files(with_sizes=True)
    found = digest_changes(feed, files, DigestRequest(key=key, **more))
    found.changes.validate(full=True)
    return found


def shown(found: FeedDigest) -> list[tuple[Any, ...]]:
    names = ("_commit_version", "_change_type", "id", "name", "changed")
    return [tuple(row[name] for name in names) for row in found.changes.to_pylist()]


class TestTheDigestOfAFeed:
    def test_counts_each_version(self, fed: FedTable) -> None:
        found = digested(fed)

        assert found.versions.drop(["size"]).to_pylist() == [
            {
                "version": version,
                "inserted": inserted,
                "updated": updated,
                "deleted": deleted,
                "num_files": 1,
                "from_change_files": version == 2,
            }
            for version, inserted, updated, deleted in (
                (1, 2, 0, 0),
                (2, 0, 1, 0),
                (3, 0, 0, 2),
            )
        ]

    def test_has_the_newest_rows_first_and_those_of_an_update_together(self, fed):
        assert shown(digested(fed)) == [
            (3, "delete", 1, "z", None),
            (3, "delete", 2, "y", None),
            (2, PRE, 1, "x", ["name"]),
            (2, POST, 1, "z", ["name"]),
            (1, "insert", 1, "x", None),
            (1, "insert", 2, "y", None),
        ]

    def test_keeps_the_newest_where_all_are_too_many(self, fed: FedTable) -> None:
        found = digested(fed, max_changes=3)

        assert shown(found) == shown(digested(fed))[:4]
        assert (found.num_kept, found.num_changes) == (3, 5)

    def test_keeps_what_fits(self, fed: FedTable) -> None:
        found = digested(fed, max_bytes=1)

        assert found.num_kept == 0
        assert found.num_changes == 5

    @pytest.mark.parametrize(
        ("kind", "versions"), [("insert", {1}), ("update", {2}), ("delete", {3})]
    )
    def test_keeps_the_kinds_asked_for_and_counts_all(self, fed, kind, versions):
        found = digested(fed, kinds=(kind,))

        assert {row[0] for row in shown(found)} == versions
        assert found.versions.num_rows == 3

    def test_keeps_updates_of_the_column_asked_for(self, fed: FedTable) -> None:
        assert [row[0] for row in shown(digested(fed, changed="name"))] == [2, 2]
        assert shown(digested(fed, changed="id")) == []

    def test_counts_what_updates_changed(self, fed: FedTable) -> None:
        assert digested(fed).changed_cells == {"id": 0, "name": 1}

    def test_leaves_rows_of_updates_alone_without_a_key(self, fed: FedTable) -> None:
        assert [row[4] for row in shown(digested(fed, key=()))] == [None] * 6


class TestRowsOfUpdates:
    @cases(
        "ids",
        {
            "of a key that came twice": [1, 1, 1, 1],
            "without a key": [None, None, None, None],
            "of a key that changed": [1, 2, 3, 4],
        },
    )
    def test_are_not_matched(self, ids: list[int | None]) -> None:
        fed = FedTable({"id": "long", "name": "string"})
        changes = things(ids, ["a", "b", "c", "d"], [PRE, PRE, POST, POST])
        fed.commit(fed.cdc("_change_data/c", changes))

        found = digested(fed)

        assert found.num_alone == 4
        assert [row[4] for row in shown(found)] == [None] * 4

    def test_are_matched_across_files_in_any_order(self) -> None:
        fed = FedTable({"id": "long", "name": "string"})
        fed.commit(
            fed.cdc("_change_data/c", things([3, 1], ["c", "a"], [POST, PRE])),
            fed.cdc("_change_data/d", things([1, 3], ["a", "d"], [POST, PRE])),
        )

        assert shown(digested(fed)) == [
            (1, PRE, 3, "d", ["name"]),
            (1, POST, 3, "c", ["name"]),
            (1, PRE, 1, "a", []),
            (1, POST, 1, "a", []),
        ]

    def test_that_are_too_many_are_matched_in_part(self, monkeypatch):
        monkeypatch.setattr(digest, "HELD_BYTES", 20_000)
        fed = FedTable({"id": "long", "name": "string"})
        count = 1_000
        for version in range(2):
            ids, names = list(range(count)), [str(version)] * count
            fed.commit(
                fed.cdc(f"_change_data/a{version}", things(ids, names, [PRE] * count)),
                fed.cdc(f"_change_data/b{version}", things(ids, names, [POST] * count)),
            )

        found = digested(fed)

        assert found.is_sampled
        assert found.num_alone == 0
        assert 0 < found.num_kept < 2 * count
        assert found.versions["updated"].to_pylist() == [count, count]


class TestDigestsOfParts:
    def test_are_merged_to_that_of_the_whole(self, fed: FedTable) -> None:
        feed = FeedScan(fed.store, FeedRequest())
        request = DigestRequest(key=("id",))
        whole = Digester(feed.schema, request, is_ordered=False)
        for changed in feed.files(with_sizes=True):
            part = Digester(feed.schema, request, is_ordered=False)
            whole.add_files(changed)
            for rows in feed.read(changed):
                part.add(rows)
            whole.merge(part.result())

        merged, found = whole.result(), digested(fed)

        assert shown(merged) == shown(found)
        assert merged.versions.equals(found.versions)
        assert merged.changed_cells == found.changed_cells
        assert (merged.num_changes, merged.num_kept) == (5, 5)


def test_sql_needs_a_parser(fed: FedTable) -> None:
    with pytest.raises(PredicateError, match="not understood"):
        FeedScan(fed.store, FeedRequest(predicate="id = 1"))
