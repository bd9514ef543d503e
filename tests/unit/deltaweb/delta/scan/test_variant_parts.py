"""Parts of variants are columns of a scan by their names."""

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from deltaweb.delta.errors import ColumnNotFoundError, DataFileError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField, StructType
from deltaweb.delta.scan.variant_parts import (
    SchemaWithParts,
    VariantPartError,
    variant_part,
)
from deltaweb.delta.snapshot import Snapshot
from deltaweb.table import DeltaTable
from tests.support import cases
from tests.support.tables.mapped_tables import MappedTable, field, with_id
from tests.support.tables.variant_tables import (
    TEXTS,
    USER_ID,
    ZIP_CODE,
    variants,
    write_events,
)

SCHEMA = SchemaWithParts(
    (
        StructField("id", PrimitiveType("long")),
        StructField("v", PrimitiveType("variant"), physical_name="col-7", field_id=7),
    )
)


class TestNames:
    def test_a_part_is_stored_where_its_column_is(self) -> None:
        part = variant_part(SCHEMA, "V:$['a::b'][0]::decimal(10, 2)")

        assert part is not None
        assert (part.column, part.path) == ("v", "$['a::b'][0]")
        assert (part.stored_name, part.field_id) == ("col-7", 7)
        assert part.type_text == "decimal(10, 2)"

    @pytest.mark.parametrize("name", ["v", "v.a", "v::bigint", "v:a::bigint", ":$.a"])
    def test_a_name_of_another_form_is_none(self, name: str) -> None:
        assert variant_part(SCHEMA, name) is None
        assert SCHEMA.find("v:a::bigint") is None

    @pytest.mark.parametrize(
        ("name", "reason"),
        [
            ("v:$.a", "names no type"),
            ("v:$.a::nope", "'nope' is not a type"),
            ("v:$.a::array<int>", "type is nested"),
            ("v:$.a..b::int", r"'\$\.a\.\.b' is not a valid variant path"),
            ("id:$.a::int", "the column 'id' is of type bigint"),
        ],
    )
    def test_what_is_not_read_is_told(self, name: str, reason: str) -> None:
        with pytest.raises(VariantPartError, match=reason) as caught:
            SCHEMA.find(name)

        assert caught.value.name == name
        assert caught.value.hint

    def test_a_column_that_is_not_there_is_told(self) -> None:
        with pytest.raises(ColumnNotFoundError, match="'w'"):
            SCHEMA.find("w:$.a::int")

    def test_a_column_of_that_name_comes_first(self) -> None:
        own = StructField(USER_ID, PrimitiveType("string"))

        assert SchemaWithParts((*SCHEMA.fields, own)).find(USER_ID) is own

    def test_paths_that_differ_in_case_are_two_parts(self) -> None:
        chosen = SCHEMA.select(("v:$.a::int", "id", "v:$.A::int"))

        assert isinstance(chosen, StructType)
        assert chosen.names == ("id", "v:$.a::int", "v:$.A::int")


@pytest.fixture(params=[False, True], ids=["plain", "shredded"])
def events(request: pytest.FixtureRequest, tmp_path: Path) -> Snapshot:
    folder = write_events(tmp_path / "events", shredded=request.param)
    return DeltaTable(str(folder)).snapshot()


class TestRows:
    @pytest.mark.parametrize(
        ("name", "first"),
        [
            (USER_ID, 42),
            ("v:$.user.id::decimal(5, 2)", Decimal("42.00")),
            ("v:$.user.id::string", "42"),
            ("v:$.user.id::variant", "42"),
            (ZIP_CODE, "10115"),
            ("v:$.user['zip code']::variant", '"10115"'),
            ("v:$.on::date", date(1970, 1, 2)),
            ("v:$.note::variant", "null"),
            ("v:$.note::string", None),
            ("v:$.nowhere::variant", None),
            ("v:$.user::variant", '{"id":42,"zip code":"10115"}'),
        ],
    )
    def test_a_part_is_a_value_of_its_type(self, events, name, first):
        rows = events.read([name, "id"])

        assert rows.column_names == [name, "id"]
        assert rows[name][0].as_py() == first
        assert rows[name][-1].as_py() is None

    def test_a_value_of_another_type_is_null(self, events: Snapshot) -> None:
        assert events.read([USER_ID])[USER_ID].to_pylist() == [42, 7, None, 100, None]

    def test_stands_beside_the_variant_and_other_parts(self, events: Snapshot) -> None:
        rows = events.read(["v", USER_ID, ZIP_CODE])

        assert rows["v"].to_pylist() == TEXTS
        assert rows[USER_ID][0].as_py() == 42
        assert rows[ZIP_CODE].to_pylist() == ["10115"] * 4 + [None]

    def test_the_whole_is_a_part(self, events: Snapshot) -> None:
        assert events.read(["v:$::variant"]).column(0).to_pylist() == TEXTS


class TestConditions:
    @cases(
        "condition, ids",
        {
            "as a number, not as a text": (f"`{USER_ID}` > 8", [1, 4]),
            "of none": (f"`{USER_ID}` IS NULL", [3, 5]),
            "day": ("`v:$.on::date` = DATE '1970-01-02'", [1, 2, 3, 4]),
            "a text": ("`v:$.user.id::string` LIKE '%n%'", [3]),
            "a null that is there": ("`v:$.note::variant` IS NULL", [5]),
        },
    )
    def test_compare_the_typed_value(self, events, condition, ids):
        scan = events.scan(["id"], condition)

        assert [row["id"] for batch in scan for row in batch.to_pylist()] == ids
        assert scan.files_selected == 2

    def test_statistics_of_other_columns_leave_out_files(self, events: Snapshot):
        scan = events.scan([USER_ID], f"id < 3 AND `{USER_ID}` > 8")

        assert [batch.to_pylist() for batch in scan] == [[{USER_ID: 42}]]
        assert scan.files_selected == 1

    def test_may_be_arrow_where_the_part_is_read(self, events: Snapshot) -> None:
        rows = events.read(["id", USER_ID], pc.field(USER_ID) > 8)

        assert rows["id"].to_pylist() == [1, 4]

    def test_a_part_that_is_not_read_is_told(self, events: Snapshot) -> None:
        with pytest.raises(VariantPartError, match="names no type"):
            events.scan(["id"], "`v:$.a` = 1")


class TestFiles:
    def test_columns_may_be_mapped(self) -> None:
        by_name = MappedTable(field("v", "variant", 2, "col-2"))
        by_name.add("a", pa.table({"col-2": variants(shredded=False)}))
        by_id = MappedTable(field("v", "variant", 2, "col-2"), mode="id")
        stored = variants(shredded=True)
        by_id.add(
            "a", pa.table([stored], pa.schema([with_id("other", stored.type, 2)]))
        )

        for table in (by_name.table, by_id.table):
            rows = table.snapshot().read([USER_ID])
            assert rows[USER_ID].to_pylist() == [42, 7, None, 100, None]

    def test_a_part_of_a_column_that_a_file_lacks_is_null(self) -> None:
        table = MappedTable(field("id", "long", 1, "a"), field("v", "variant", 2, "b"))
        table.add("a", pa.table({"a": [1]}))

        assert table.table.snapshot().read([USER_ID])[USER_ID].to_pylist() == [None]

    def test_what_is_no_variant_is_told_and_never_passed_over(self) -> None:
        table = MappedTable(field("v", "variant", 2, "b"))
        table.add("a", pa.table({"b": [1, 2]}), row_group_rows=1)

        scan = table.table.snapshot().scan([USER_ID], f"`{USER_ID}` > 5")

        with pytest.raises(DataFileError, match="column 'v'"):
            list(scan)

    def test_statistics_that_name_a_part_are_not_believed(self, tmp_path: Path) -> None:
        folder = write_events(tmp_path / "events", shredded=False)
        log = next((folder / "_delta_log").glob("*.json"))
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        for line in lines:
            if "add" in line:
                bounds = {USER_ID: 0}
                line["add"]["stats"] = json.dumps(
                    {"numRecords": 2, "minValues": bounds, "maxValues": bounds}
                )
        log.write_text("\n".join(map(json.dumps, lines)))

        scan = DeltaTable(str(folder)).snapshot().scan(["id"], f"`{USER_ID}` > 8")

        assert scan.files_selected == 2
