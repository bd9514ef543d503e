"""Which files of a version answer a query."""

from pathlib import Path

import pytest

from deltaweb.delta.errors import PartitionValueError
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support.logs.delta_logs import add
from tests.support.logs.local_logs import LocalLog
from tests.support.pages.shared_tables import (
    condition,
    hint,
    listed,
    paths,
    signed,
    stats_text,
)

pytestmark = pytest.mark.slow


class TestSelection:
    @pytest.fixture(params=["indexed", "replayed"])
    def version(self, log: LocalLog, request: pytest.FixtureRequest) -> SharedVersion:
        log.commit(
            1, add("n", size=8, partitionValues={"p": None}, stats=stats_text(5, 0, 99))
        )
        index = log.index() if request.param == "indexed" else None
        return SharedTableReader().open_version(log.table, index_folder=index)

    def test_tells_what_it_holds_and_of_how_much(self, version: SharedVersion) -> None:
        chosen = version.select(predicates=[hint("p = 1")])

        assert (chosen.num_files, chosen.total_files, chosen.size_bytes) == (2, 4, 3)
        assert chosen.outside is None

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("p = 1", ["p=1/a", "p=1/b"]),
            ("p <> 1", ["p=2/c"]),
            ("NOT (p = 1)", ["p=2/c"]),
            ("p IS NULL", ["n"]),
            ("p IS NOT NULL", ["p=1/a", "p=1/b", "p=2/c"]),
            ("p = 1 OR p IS NULL", ["n", "p=1/a", "p=1/b"]),
            ("p IN (2, NULL)", ["p=2/c"]),
            ("p NOT IN (2, NULL)", []),
            ("p > 5", []),
        ],
    )
    def test_a_filter_offers_what_it_is_true_for_and_nothing_else(
        self, version: SharedVersion, text: str, expected: list[str]
    ) -> None:
        assert paths(version, partition_filter=condition(text)) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("id = 1", []),
            ("p = 1 AND id >= 0", ["p=1/a", "p=1/b"]),
            ("p = 1 AND id > 0", ["p=1/b"]),
            ("p = 1 AND id > 10", []),
        ],
    )
    def test_a_filter_of_other_columns_offers_what_is_proved(
        self, version: SharedVersion, text: str, expected: list[str]
    ) -> None:
        assert paths(version, partition_filter=condition(text)) == expected

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("id = 5", ["n", "p=1/a", "p=2/c"]),
            ("id > 50", ["n", "p=2/c"]),
            ("p = 2 AND id > 50", ["p=2/c"]),
            ("name = 'x'", ["n", "p=1/a", "p=1/b", "p=2/c"]),
        ],
    )
    def test_hints_leave_out_what_cannot_match(self, version, text, expected):
        assert paths(version, predicates=[hint(text)]) == expected

    def test_several_hints_all_hold(self, version: SharedVersion) -> None:
        hints = [hint("id < 50"), hint("p = 1"), hint("id > 12")]

        assert paths(version, predicates=hints) == ["p=1/b"]

    def test_a_filter_holds_whatever_the_hints_say(self, version: SharedVersion):
        found = paths(
            version,
            partition_filter=condition("p = 1"),
            predicates=[hint("p = 2 OR id < 5")],
        )

        assert found == ["p=1/a"]

    @pytest.mark.parametrize(
        ("limit", "expected"),
        [(0, 0), (1, 1), (10, 1), (11, 2), (20, 2), (999, 2), (10**15, 2), (10**40, 2)],
    )
    def test_a_limit_stops_after_the_file_that_reaches_it(
        self, version: SharedVersion, limit: int, expected: int
    ) -> None:
        chosen = version.select(predicates=[hint("p = 1")], limit=limit)

        assert chosen.num_files == expected

    def test_a_file_without_a_count_reaches_no_limit(self, version: SharedVersion):
        hints = [hint("p = 2")]

        assert version.select(predicates=hints, limit=1).num_files == 1
        assert version.select(limit=26).num_files == 4


class TestBadPartitionValues:
    @pytest.fixture(params=["indexed", "replayed"])
    def version(self, tmp_path: Path, request: pytest.FixtureRequest) -> SharedVersion:
        log = LocalLog(tmp_path).start(
            add("good", partitionValues={"p": "1"}),
            add("bad", partitionValues={"p": "one"}),
            add("none", partitionValues={"p": ""}),
            partitionColumns=["p"],
        )
        index = log.index() if request.param == "indexed" else None
        return SharedTableReader().open_version(log.table, index_folder=index)

    def test_offer_nothing_where_a_filter_looks_at_them(self, version: SharedVersion):
        with pytest.raises(PartitionValueError, match="bad"):
            signed(version, condition("p = 1")).select()

    def test_may_match_every_hint(self, version: SharedVersion) -> None:
        assert paths(version, predicates=[hint("p = 1")]) == ["bad", "good"]
        assert paths(version, predicates=[hint("p IS NULL")]) == ["bad", "none"]
        assert paths(version, predicates=[hint("p IS NOT NULL")]) == ["bad", "good"]


class TestPathsOutside:
    @pytest.mark.parametrize(
        "path",
        [
            "../x",
            "a/../../x",
            "%2e%2e/x",
            "/etc/passwd",
            "file:///etc/passwd",
            "s3://b/x",
        ],
    )
    @pytest.mark.parametrize("has_index", [True, False], ids=["indexed", "replayed"])
    def test_are_told_before_anything_is_listed(self, tmp_path, path, *, has_index):
        log = LocalLog(tmp_path).start(add("a"), add(path))
        index = log.index() if has_index else None

        opened = SharedTableReader().open_version(log.table, index_folder=index)

        assert opened.select().outside == path

    def test_an_absolute_path_below_the_root_is_made_relative(self, tmp_path: Path):
        log = LocalLog(tmp_path)
        log.start(add(f"file://{log.location}/x%20y"), add(f"{log.location}/z"))

        opened = SharedTableReader().open_version(log.table, index_folder=log.index())

        assert opened.select().outside is None
        assert sorted(row["relative_path"] for row in listed(opened)) == ["x y", "z"]
