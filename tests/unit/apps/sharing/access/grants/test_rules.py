"""What each recipient sees of a shared table, by the table's rule and its own."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from apps.sharing.access.grants.rules import (
    TableRule,
    rule_for,
    rule_of,
    rules_by_table,
)
from apps.sharing.models import Recipient, RecipientRule, SharedTable
from deltaweb.conditions.recipients import Property
from deltaweb.delta.errors import PredicateError, SchemaError
from deltaweb.delta.features.column_mapping import table_schema
from deltaweb.delta.protocol.schema import StructType, parse_schema
from deltaweb.index.query.shared_table import SharedTableReader
from deltaweb.index.query.shared_version import SharedVersion
from tests.support import cases
from tests.support.logs.delta_logs import metadata, protocol
from tests.support.logs.local_logs import LocalLog, typed_schema
from tests.support.pages.factories import (
    new_recipient,
    new_share,
    new_shared_table,
)

COLUMNS = {"id": "long", "region": "string", "p": "integer"}
SCHEMA = parse_schema(typed_schema(**COLUMNS))
ROWS = pa.record_batch(
    {
        "id": pa.array([1, 2, 3, 4], pa.int64()),
        "region": ["EU", "US", "EU", None],
        "p": pa.array([1, 1, 2, 2], pa.int32()),
    }
)


def rule(
    *conditions: str, columns: Sequence[str] | None = None, **properties: Property
) -> TableRule:
    seen = None if columns is None else frozenset(columns)
    return TableRule(conditions, seen, properties)


def seen(of: TableRule, schema: StructType = SCHEMA) -> list[int]:
    """The ids of the rows that are seen."""
    found = of.condition(schema).holds(ROWS)
    ids: list[int] = ROWS["id"].filter(found).to_pylist()
    return ids


class TestTheRuleOfOneRecipient:
    def test_is_whole_if_it_names_neither_rows_nor_columns(self) -> None:
        assert rule().is_whole
        assert not rule("id = 1").is_whole
        assert not rule(columns=["id"]).is_whole
        assert not rule(columns=[]).is_whole

    @cases(
        "conditions, ids",
        {
            "one": (["region = 'EU'"], [1, 3]),
            "unknown for null": (["region <> 'EU'"], [2]),
            "all of two": (["region = 'EU'", "id > 1"], [3]),
            "OR in one of them": (["id = 1 OR id = 2", "region = 'EU'"], [1]),
            "OR in the other": (["region = 'EU'", "id = 1 OR id = 2"], [1]),
            "a comment at the end": (["id > 1 -- all but one", "id < 3"], [2]),
        },
    )
    def test_shows_rows_that_all_conditions_are_true_for(self, conditions, ids) -> None:
        assert seen(rule(*conditions)) == ids

    @cases(
        "value, ids",
        {"a text": ("EU", [1, 3]), "another": ("x' OR true", []), "none": (None, [])},
    )
    def test_asks_for_values_of_the_recipient(self, value: str | None, ids) -> None:
        properties = {} if value is None else {"region": value}

        assert seen(rule("region = recipient.REGION", **properties)) == ids
        assert seen(rule("id > 0", "region = recipient.region", **properties)) == ids

    def test_says_which_values_it_asks_for_and_lacks(self) -> None:
        asking = rule(
            "region = recipient.Region", "p = recipient.p AND id > 0", region="EU", x=1
        )

        assert asking.asked == {"p": None, "region": "EU"}
        assert asking.missing == ["p"]
        assert rule("id = 1", region="EU").asked == {}
        assert rule("id = 1", region="EU").missing == []

    @cases(
        "condition, columns, is_so",
        {
            "no condition": (None, None, True),
            "partition columns": ("p = 1", None, True),
            "another column": ("p = 1 AND id = 1", None, False),
            "hidden columns": (None, ["id", "p"], False),
            "partition columns, and hidden ones": ("p = 1", ["id"], False),
        },
    )
    def test_leaves_whole_files(
        self, tmp_path: Path, condition: str | None, columns: list[str] | None, is_so
    ) -> None:
        of = rule(*([condition] if condition else []), columns=columns)

        assert of.leaves_whole_files(opened(tmp_path, COLUMNS)) is is_so

    def test_shows_columns_in_the_order_of_the_table(self) -> None:
        assert rule(columns=["p", "id", "gone"]).visible(SCHEMA).names == ("id", "p")
        assert rule().visible(SCHEMA) == SCHEMA
        assert rule(columns=[]).visible(SCHEMA).names == ()


class TestItsDigest:
    def test_is_equal_for_recipients_with_equal_values(self) -> None:
        of = "region = recipient.region"

        assert rule(of, region="EU", x=1).digest == rule(of, region="EU", x=2).digest
        assert rule(columns=["a", "b"]).digest == rule(columns=["b", "a"]).digest

    def test_differs_by_whatever_is_seen(self) -> None:
        of = "region = recipient.region"
        different = [
            rule(),
            rule(columns=[]),
            rule(columns=["id"]),
            rule(columns=["id", "p"]),
            rule("id = 1"),
            rule("id = 1", columns=["id"]),
            rule("id = 1", "p = 1"),
            rule("p = 1", "id = 1"),
            rule(of),
            rule(of, region="EU"),
            rule(of, region="1"),
            rule(of, region=1),
            rule(of, region=True),
        ]

        assert len({one.digest for one in different}) == len(different)


class TestBinding:
    @pytest.fixture
    def version(self, tmp_path: Path) -> SharedVersion:
        return opened(tmp_path, COLUMNS)

    def test_leaves_all_of_a_table_without_a_rule(self, version) -> None:
        bound = rule().bind(version)

        assert bound.files.is_whole
        assert bound.schema == version.schema
        assert bound.metadata.partition_columns == ["p"]

    @pytest.mark.parametrize("mode", ["name", "id"])
    def test_in_plain_form_has_files_by_the_names_of_the_table(
        self, tmp_path: Path, mode: str
    ) -> None:
        version = opened(tmp_path, COLUMNS, stored="region", mode=mode)

        bound = replace(rule(), is_plain=True).bind(version)

        assert (bound.files.copies_all, bound.files.copies_vectors) == (True, True)
        assert [one.stored_name for one in bound.schema.fields] == [*COLUMNS]
        assert bound.schema == table_schema(bound.protocol, bound.metadata)
        assert bound.protocol.min_reader_version == 1
        assert "columnMapping" not in str(bound.metadata)
        assert bound.partition_names(version.schema) == {"region3": "p"}

    def test_in_plain_form_copies_only_files_with_vectors_if_names_are_equal(
        self, version: SharedVersion
    ) -> None:
        bound = replace(rule("id = 1"), is_plain=True).bind(version)

        assert (bound.files.copies_all, bound.files.copies_vectors) == (False, True)

    def test_hides_columns_and_tells_of_the_others(self, version) -> None:
        bound = rule("region = 'EU'", columns=["id"]).bind(version)

        assert bound.files.hides_columns
        assert bound.files.condition is not None
        assert bound.files.condition.names == {"region"}
        assert bound.schema.names == ("id",)
        assert bound.metadata.partition_columns == []
        assert "region" not in (bound.metadata.schema_string or "")

    def test_hides_columns_though_all_are_named(self, version: SharedVersion) -> None:
        """A file may hold columns that the schema has no more."""
        bound = rule(columns=["id", "region", "p"]).bind(version)

        assert bound.files.hides_columns
        assert bound.schema == version.schema

    def test_of_rows_alone_hides_no_column(self, version: SharedVersion) -> None:
        bound = rule("id = 1").bind(version)

        assert not bound.files.hides_columns
        assert bound.schema == version.schema

    @pytest.mark.parametrize("columns", [[], ["p"], ["gone"]])
    def test_needs_a_column_that_files_hold(self, version, columns: list[str]) -> None:
        with pytest.raises(SchemaError, match="it shares no column of the data files"):
            rule(columns=columns).bind(version)

    def test_has_a_shape_for_each_schema_and_what_of_it_is_seen(self, tmp_path) -> None:
        versions = [
            opened(tmp_path / str(number), columns)
            for number, columns in enumerate(
                [
                    COLUMNS,
                    COLUMNS | {"id": "integer"},
                    COLUMNS | {"more": "long"},
                    {"other": "long", "region": "string", "p": "integer"},
                ]
            )
        ]
        shapes = [rule().bind(version).shape for version in versions]
        shapes.append(rule(columns=["id"]).bind(versions[0]).shape)

        assert len(set(shapes)) == len(shapes)
        assert rule("id = 1").bind(versions[0]).shape == shapes[0]

    def test_has_a_shape_for_each_stored_name(self, tmp_path: Path) -> None:
        shapes = [
            rule().bind(opened(tmp_path / stored, COLUMNS, stored=stored)).shape
            for stored in ("a", "b")
        ]

        assert shapes[0] != shapes[1]


def opened(
    folder: Path, columns: dict[str, str], *, stored: str = "", mode: str = "name"
) -> SharedVersion:
    """Open a table of columns, of which `p` is a partition column."""
    text = json.loads(typed_schema(**columns))
    for number, column in enumerate(text["fields"] if stored else (), 1):
        column["metadata"] = {
            "delta.columnMapping.id": number,
            "delta.columnMapping.physicalName": f"{stored}{number}",
        }
    folder.mkdir(exist_ok=True)
    made = metadata(
        schemaString=json.dumps(text),
        partitionColumns=["p"],
        configuration={"delta.columnMapping.mode": mode} if stored else {},
    )
    log = LocalLog(folder).commit(0, protocol(2, 5), made)
    return SharedTableReader().open_version(log.table, index_folder=None)


@dataclass
class Draft:
    condition: str = ""
    columns: Sequence[str] = ()


def made(*held: Draft, **fields: Any) -> TableRule:  # noqa: ANN401 (of a recipient)
    return rule_of(held, Recipient(name="acme", **fields))


class TestRulesTogether:
    def test_show_the_columns_that_each_of_them_shows(self) -> None:
        both, one, other, every = (
            Draft(columns=names) for names in (["a", "b"], ["b", "c"], ["d"], [])
        )

        assert made(both).columns == frozenset({"a", "b"})
        assert made(both, one).columns == frozenset({"b"})
        assert made(both, every).columns == frozenset({"a", "b"})
        assert made(every, one).columns == frozenset({"b", "c"})
        assert made(both, other).columns == frozenset()
        assert made(every).columns is None

    def test_show_the_rows_that_each_of_them_shows(self) -> None:
        rules = [Draft("id = 1"), Draft(), Draft("p = 2")]

        assert made(*rules).conditions == ("id = 1", "p = 2")
        assert made(Draft()).is_whole
        assert made(Draft()).is_stored

    def test_are_plain_if_the_recipient_is(self) -> None:
        found = made(Draft(), plain=True)

        assert (found.is_whole, found.is_stored) == (True, False)
        assert found.digest != made(Draft()).digest

    def test_know_the_recipient_by_its_own_name(self) -> None:
        found = made(Draft(), properties={"Region": "EU", "Name": "globex", "n": 1})

        assert found.properties == {"region": "EU", "n": 1, "name": "acme"}


@pytest.mark.django_db
class TestStoredRules:
    @pytest.fixture
    def shared(self) -> SharedTable:
        return new_shared_table(condition="region = 'EU'", columns=["id", "region"])

    def test_of_a_recipient_narrow_that_of_the_table(self, shared) -> None:
        acme, globex = new_recipient("acme"), new_recipient("globex")
        RecipientRule.objects.create(
            shared_table=shared, recipient=acme, condition="id = 1", columns=["id", "p"]
        )

        narrow, wide = rule_for(shared, acme), rule_for(shared, globex)

        assert narrow.conditions == ("region = 'EU'", "id = 1")
        assert narrow.columns == frozenset({"id"})
        assert wide.conditions == ("region = 'EU'",)
        assert wide.columns == frozenset({"id", "region"})

    @cases(
        "of_table, of_share, of_recipient",
        {
            "the table": (True, False, False),
            "its share": (False, True, False),
            "the recipient": (False, False, True),
        },
    )
    def test_are_plain_if_anything_says_so(
        self, *, of_table: bool, of_share: bool, of_recipient: bool
    ) -> None:
        share = new_share("plain", plain=of_share)
        shared = new_shared_table(share, "crm.plain", plain=of_table)
        acme = new_recipient("acme", plain=of_recipient)

        found = rule_for(shared, acme)

        assert (found.is_whole, found.is_plain) == (True, True)
        assert [one for one, _ in rules_by_table([shared], [acme])[shared.id]] == [
            found
        ]

    def test_of_another_table_narrow_nothing(self, shared: SharedTable) -> None:
        other = new_shared_table(new_share("other"), "crm.other")
        acme = new_recipient("acme")
        RecipientRule.objects.create(
            shared_table=shared, recipient=acme, condition="id = 1"
        )

        assert rule_for(other, acme).is_whole
        found = rules_by_table([other, shared], [acme])
        assert [one.conditions for one, _ in found[shared.id]] == [
            ("region = 'EU'", "id = 1")
        ]
        assert found[other.id] == []

    def test_that_are_equal_are_shared_by_their_recipients(self) -> None:
        shared = new_shared_table(condition="region = recipient.region")
        regions = {"a": "EU", "b": "US", "c": "EU", "d": "EU"}
        recipients = [
            new_recipient(name, properties={"region": region})
            for name, region in regions.items()
        ]
        RecipientRule.objects.create(
            shared_table=shared, recipient=recipients[3], condition="id = 1"
        )

        found = rules_by_table([shared], recipients)[shared.id]

        assert [names for _, names in found] == [["a", "c"], ["b"], ["d"]]
        assert [one.asked["region"] for one, _ in found] == ["EU", "US", "EU"]
        assert [len(one.conditions) for one, _ in found] == [1, 1, 2]
        for one, (name, *_) in found:
            recipient = next(r for r in recipients if r.name == name)
            assert rule_for(shared, recipient).digest == one.digest

    def test_that_hide_columns_alone_are_rules(self) -> None:
        acme, shared = new_recipient("acme"), new_shared_table(columns=["id"])

        ((found, names),) = rules_by_table([shared], [acme])[shared.id]

        assert (found.conditions, found.columns) == ((), frozenset({"id"}))
        assert names == ["acme"]

    def test_of_others_are_not_looked_at(self, shared: SharedTable) -> None:
        acme, globex = new_recipient("acme"), new_recipient("globex")
        RecipientRule.objects.create(
            shared_table=shared, recipient=globex, condition="id ="
        )

        assert [names for _, names in rules_by_table([shared], [acme])[shared.id]] == [
            ["acme"]
        ]
        with pytest.raises(PredicateError):
            rules_by_table([shared], [acme, globex])
