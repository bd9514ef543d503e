"""Which files are signed, rewritten or absent under a rule, from what a log says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from deltaweb.delta.errors import PartitionValueError
from deltaweb.delta.scan.predicate import Comparison, Constant
from deltaweb.expressions.condition import SQLCondition
from deltaweb.index.query.classification import FileRule, classify
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import cases
from tests.support.logs.delta_logs import Action, add, metadata, protocol, remove
from tests.support.logs.local_logs import LocalLog, stats_of, typed_schema

VERDICTS = ("signed", "rewritten", "absent")
EACH = Constant(value=True)
VECTOR = {
    "storageType": "u",
    "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^",
    "offset": 1,
    "sizeInBytes": 36,
    "cardinality": 2,
}


def file_of(path: str, low: Any, high: Any, name: str = "id", **fields: Any) -> Action:  # noqa: ANN401 (JSON)
    """A file of ten rows, and the range of one column."""
    return add(path, stats=stats_of(10, {name: low}, {name: high}), **fields)


def opened(log: LocalLog) -> SharedVersion:
    return SharedTableReader().open_version(log.table, index_folder=None)


def without(log: LocalLog, path: str) -> SharedVersion:
    """Remove a file that is still in the part of the version before; open the next."""
    reader = SharedTableReader()
    before = reader.open_version(log.table, index_folder=None)
    log.commit(1, remove(path))
    version = reader.open_version(log.table, index_folder=None)
    assert [*version.parts] == [*before.parts]
    return version


def verdicts(
    version: SharedVersion, sql: str | None, *, hides_columns: bool = False
) -> dict[str, str]:
    """Return what happens to each live file, by its path."""
    condition = SQLCondition(sql, version.schema) if sql else None
    rule = FileRule(condition=condition, hides_columns=hides_columns)
    return verdicts_of(version, rule)


def verdicts_of(version: SharedVersion, rule: FileRule) -> dict[str, str]:
    """Return what happens to each live file under a rule, by its path."""
    found: dict[str, str] = {}
    for one in classify(version, rule):
        for row, path in enumerate(one.part.paths.to_pylist()):
            marks = [name for name in VERDICTS if getattr(one, name)[row]]
            assert len(marks) <= 1
            if marks:
                found[path] = marks[0]
    return found


@pytest.fixture
def log(tmp_path: Path) -> LocalLog:
    return LocalLog(tmp_path)


def test_a_rule_is_whole_without_a_condition_and_hidden_columns(log: LocalLog) -> None:
    schema = opened(log.start()).schema

    assert FileRule().is_whole
    assert not FileRule(hides_columns=True).is_whole
    assert not FileRule(condition=SQLCondition("id = 1", schema)).is_whole


class TestWithoutACondition:
    @pytest.mark.parametrize(
        ("hides_columns", "verdict"), [(False, "signed"), (True, "rewritten")]
    )
    def test_no_file_is_signed_if_a_column_is_hidden(
        self, log: LocalLog, *, hides_columns: bool, verdict: str
    ) -> None:
        log.start(*map(add, "abcdef"))

        found = verdicts(without(log, "a"), None, hides_columns=hides_columns)

        assert found == dict.fromkeys("bcdef", verdict)


class TestOfPlainFiles:
    @cases(
        "copies, found",
        {
            "nothing": ({}, ("signed", "signed")),
            "files with vectors": ({"copies_vectors": True}, ("signed", "rewritten")),
            "all files": ({"copies_all": True}, ("rewritten", "rewritten")),
            "older types": (
                {"copies_vectors": True, "checked_where": EACH},
                ("rewritten", "rewritten"),
            ),
        },
    )
    def test_files_are_copied_that_clients_would_misread(
        self, log: LocalLog, copies: dict[str, Any], found: tuple[str, str]
    ) -> None:
        version = opened(log.start(add("whole"), add("marked", deletionVector=VECTOR)))
        rule = FileRule(**copies)

        assert verdicts_of(version, rule) == dict(
            zip(("whole", "marked"), found, strict=True)
        )
        assert verdicts_of(version, rule.of_rows) == dict.fromkeys(
            ("whole", "marked"), "signed"
        )

    def test_only_a_file_that_is_checked_for_its_types_is_signed_once_it_is_known(
        self, log: LocalLog
    ) -> None:
        version = opened(log.start(add("whole"), add("marked", deletionVector=VECTOR)))
        rule = FileRule(copies_vectors=True, checked_where=EACH)
        (part,) = classify(version, rule)
        rows = {path: row for row, path in enumerate(part.part.paths.to_pylist())}

        known = part.with_signed(np.array([*rows.values()]))

        assert known.signed.tolist() == [path == "whole" for path in rows]
        assert known.rewritten.tolist() == [path == "marked" for path in rows]
        assert not known.checked.any()
        hiding = replace(rule, hides_columns=True)
        assert not classify(version, hiding)[0].checked.any()

    def test_a_file_is_checked_if_it_may_hold_a_row_of_the_doubtful(
        self, log: LocalLog
    ) -> None:
        files = [file_of("near", 1, 5), file_of("far", 1, 9), add("unknown")]
        version = opened(log.start(*files))
        rule = FileRule(checked_where=Comparison(("id",), ">", pa.scalar(5)))

        (part,) = classify(version, rule)

        paths = np.array(part.part.paths.to_pylist())
        assert {*paths[part.checked]} == {*paths[part.rewritten]} == {"far", "unknown"}
        assert [*paths[part.signed]] == ["near"]

    def test_a_condition_on_partitions_signs_no_file_with_a_vector(
        self, log: LocalLog
    ) -> None:
        values = {"a": {"p": "1"}, "b": {"p": "1"}, "c": {"p": "2"}}
        adds = [add(one, partitionValues=value) for one, value in values.items()]
        adds[1]["add"]["deletionVector"] = VECTOR
        version = opened(log.start(*adds, partitionColumns=["p"]))
        condition = SQLCondition("p = 1", version.schema)
        rule = FileRule(condition=condition, copies_vectors=True)

        assert verdicts_of(version, rule) == {
            "a": "signed",
            "b": "rewritten",
            "c": "absent",
        }


def partitioned(log: LocalLog, **values: str | None) -> SharedVersion:
    """One file for each value of the partition column `p`."""
    files = [add(path, partitionValues={"p": text}) for path, text in values.items()]
    return opened(log.start(*files, partitionColumns=["p"]))


class TestPartitionColumns:
    @cases(
        "sql, signed",
        {
            "equal": ("p = 1", "a"),
            "greater": ("p > 1", "b"),
            "denied": ("NOT (p = 1)", "b"),
            "null": ("p IS NULL", "n"),
            "either": ("p = 1 OR p IS NULL", "an"),
            "true": ("1 = 1", "abn"),
            "false": ("1 = 0", ""),
        },
    )
    def test_decide_alone(self, log: LocalLog, sql: str, signed: str) -> None:
        version = partitioned(log, a="1", b="2", n=None)
        rest = {path: "absent" for path in "abn" if path not in signed}

        assert verdicts(version, sql) == dict.fromkeys(signed, "signed") | rest
        hidden = verdicts(version, sql, hides_columns=True)
        assert hidden == dict.fromkeys(signed, "rewritten") | rest

    def test_are_read_by_their_stored_names(self, log: LocalLog) -> None:
        fields = json.loads(typed_schema(id="long", p="integer"))["fields"]
        for number, field in enumerate(fields, 1):
            field["metadata"] = {
                "delta.columnMapping.id": number,
                "delta.columnMapping.physicalName": f"col-{number}",
            }
        mapped = metadata(
            schemaString=json.dumps({"type": "struct", "fields": fields}),
            partitionColumns=["p"],
            configuration={"delta.columnMapping.mode": "name"},
        )
        files = [
            add(path, partitionValues={"col-2": text})
            for path, text in (("a", "1"), ("b", "2"), ("c", "x"))
        ]
        log.commit(0, protocol(2, 5), mapped, *files)

        with pytest.raises(PartitionValueError) as caught:
            verdicts(opened(log), "p = 2")
        assert (caught.value.column, caught.value.value) == ("p", "x")
        log.commit(1, remove("c"))

        assert verdicts(opened(log), "p = 2") == {"a": "absent", "b": "signed"}

    @pytest.mark.parametrize("text", ["1", "2", "many"])
    def test_of_files_that_are_removed_count_no_more(self, log, text: str) -> None:
        partitioned(log, a=text, **dict.fromkeys("bcdef", "1"))

        assert verdicts(without(log, "a"), "p = 1") == dict.fromkeys("bcdef", "signed")

    def test_with_a_text_that_is_no_value_are_an_error(self, log: LocalLog) -> None:
        version = partitioned(log, a="1", b="many", c="some")

        with pytest.raises(PartitionValueError) as caught:
            verdicts(version, "p = 1")

        error = caught.value
        assert (error.path, error.column) == ("b", "p")
        assert (error.value, error.type_name) == ("many", "int")


class TestStatistics:
    @cases(
        "sql, verdict",
        {
            "all inside": ("id < 100", "signed"),
            "up to the last": ("id <= 9", "signed"),
            "all but the last": ("id < 9", "rewritten"),
            "one": ("id = 5", "rewritten"),
            "from the first": ("id >= 0", "signed"),
            "just outside": ("id > 9", "absent"),
            "no null": ("id IS NULL", "absent"),
            "every value": ("id IS NOT NULL", "signed"),
            "another column": ("price < 5", "rewritten"),
            "one column of two": ("id < 100 AND price < 5", "rewritten"),
            "outside by one": ("id > 9 AND price < 5", "absent"),
            "what nothing is known of": ("length(name) > 3", "rewritten"),
        },
    )
    def test_prove_what_is_in_a_file(self, log: LocalLog, sql: str, verdict: str):
        version = opened(log.start(file_of("a", 0, 9)))

        assert verdicts(version, sql) == {"a": verdict}
        expected = "rewritten" if verdict == "signed" else verdict
        assert verdicts(version, sql, hides_columns=True) == {"a": expected}

    @cases(
        "stats",
        {
            "none": (None,),
            "no bounds": ({"numRecords": 10, "nullCount": {"id": 0}},),
            "no largest": (
                {"numRecords": 10, "minValues": {"id": 0}, "nullCount": {"id": 0}},
            ),
            "no count of nulls": (
                {"numRecords": 10, "minValues": {"id": 0}, "maxValues": {"id": 9}},
            ),
            "a null": (
                {
                    "numRecords": 10,
                    "minValues": {"id": 0},
                    "maxValues": {"id": 9},
                    "nullCount": {"id": 1},
                },
            ),
        },
    )
    def test_that_leave_a_doubt_sign_no_file(self, log: LocalLog, stats: object):
        text = json.dumps(stats) if stats else None
        version = opened(log.start(add("a", stats=text), file_of("b", 0, 9)))

        assert verdicts(version, "id < 100") == {"a": "rewritten", "b": "signed"}

    def test_of_numbers_with_a_point_do_not_deny_nan(self, log: LocalLog) -> None:
        version = opened(log.start(file_of("a", 1.0, 3.0, "price")))

        assert verdicts(version, "price < 5") == {"a": "rewritten"}
        assert verdicts(version, "price > 5") == {"a": "rewritten"}

    def test_of_files_with_vectors_sign_no_file(self, log: LocalLog) -> None:
        version = opened(
            log.start(
                file_of("a", 0, 9, deletionVector=VECTOR),
                file_of("b", 0, 9),
                file_of("c", 200, 209, deletionVector=VECTOR),
            )
        )

        expected = {"a": "rewritten", "b": "signed", "c": "absent"}
        assert verdicts(version, "id < 100") == expected

    @pytest.mark.parametrize("least", [0, 50, 200])
    def test_of_removed_files_count_no_more(self, log: LocalLog, least: int) -> None:
        log.start(
            file_of("a", least, least + 99), *(file_of(path, 0, 9) for path in "bcdef")
        )

        found = verdicts(without(log, "a"), "id < 100")

        assert found == dict.fromkeys("bcdef", "signed")

    def test_are_joined_with_partition_values(self, log: LocalLog) -> None:
        version = opened(
            log.start(
                file_of("a", 0, 9, partitionValues={"p": "1"}),
                file_of("b", 0, 200, partitionValues={"p": "1"}),
                file_of("c", 0, 9, partitionValues={"p": "2"}),
                partitionColumns=["p"],
            )
        )

        expected = {"a": "signed", "b": "rewritten", "c": "absent"}
        assert verdicts(version, "p = 1 AND id < 100") == expected


class TestTextsThatMayBeCut:
    """A largest text of 32 bytes may be the start of a longer one, which is larger."""

    @cases(
        "largest, prefix_length, verdict",
        {
            "31 bytes": ("a" * 31, None, "signed"),
            "32 bytes": ("a" * 32, None, "rewritten"),
            "33 bytes": ("a" * 33, None, "rewritten"),
            "15 letters of two bytes": ("ä" * 15, None, "signed"),
            "16 letters of two bytes": ("ä" * 16, None, "rewritten"),
            "below a shorter prefix": ("aaaa", "5", "signed"),
            "a shorter prefix": ("aaaaa", "5", "rewritten"),
            "below a longer prefix": ("a" * 31, "100", "signed"),
            "a longer prefix": ("a" * 32, "100", "rewritten"),
            "no prefix": ("a", "0", "rewritten"),
            "a prefix of no length": ("a", "long", "rewritten"),
        },
    )
    def test_are_signed_where_they_are_whole(
        self, log: LocalLog, largest: str, prefix_length: str | None, verdict: str
    ) -> None:
        name = "delta.dataSkippingStringPrefixLength"
        version = opened(
            log.start(
                file_of("f", "a", largest, "name"),
                configuration={name: prefix_length} if prefix_length else {},
            )
        )

        assert verdicts(version, f"name <= '{largest}'") == {"f": verdict}
