"""What a change of a table's definition would do is told before it is done."""

from functools import partial

import pyarrow as pa
import pytest

from deltaweb.delta.errors import PropertyError
from deltaweb.delta.protocol.schema import PrimitiveType, StructField
from deltaweb.delta.writing.errors import (
    ConstraintViolatedError,
    ProtocolUpgradeError,
    UnsupportedWriteError,
)
from deltaweb.delta.writing.operations.definition import (
    add_columns,
    set_comment,
    set_properties,
    unset_properties,
)
from deltaweb.delta.writing.operations.definition_plan import carry_out_definition
from deltaweb.delta.writing.operations.protocol_change import upgrade_protocol
from deltaweb.table import DeltaTable
from tests.support.tables.table_builder import ROWS, TableBuilder

ROOT = "memory"


# Three rows, and a protocol that knows constraints.
CONSTRAINTS = {"delta.constraints.some": "n > 0", "team": "blue"}
TABLE = TableBuilder().properties(CONSTRAINTS).rows(ROWS)


def in_row(changes: object) -> list[tuple[object, object, object]]:
    return [
        (change.name, change.before, change.after)
        for part in ("added", "removed", "changed")
        for change in getattr(changes, part)
    ]


def test_properties_are_shown_with_their_old_values(table: DeltaTable) -> None:
    wanted = {"team": "red", "delta.appendOnly": "true"}

    plan = table.plan_definition(partial(set_properties, properties=wanted, root=ROOT))

    assert in_row(plan.properties) == [
        ("delta.appendOnly", None, "true"),
        ("team", "blue", "red"),
    ]
    assert plan.protocol.count == plan.schema.count == 0
    assert table.latest_version() == 1


def test_properties_that_go_are_told(table: DeltaTable) -> None:
    plan = table.plan_definition(partial(unset_properties, names=["team", "none"]))

    assert in_row(plan.properties) == [("team", "blue", None)]


def test_a_feature_is_told_as_a_change_of_the_protocol(table: DeltaTable) -> None:
    feature = {"delta.feature.vacuumProtocolCheck": "supported"}
    change = partial(set_properties, properties=feature, root=ROOT)
    with pytest.raises(ProtocolUpgradeError):
        table.plan_definition(change)
    table.upgrade_protocol(3, 7)

    plan = table.plan_definition(change)

    names = [name for name, *_ in in_row(plan.protocol)]
    assert names == ["vacuumProtocolCheck"]


def test_an_upgrade_is_told_by_versions_and_features(table: DeltaTable) -> None:
    plan = table.plan_definition(
        partial(upgrade_protocol, reader=None, writer=7, root=ROOT)
    )

    changes = in_row(plan.protocol)
    assert ("min_writer_version", 3, 7) in changes
    assert "checkConstraints" in [name for name, *_ in changes]


def test_columns_and_words_are_told(table: DeltaTable) -> None:
    column = StructField("note", PrimitiveType("string"), nullable=True, metadata={})

    added = table.plan_definition(partial(add_columns, columns=[column], root=ROOT))
    said = table.plan_definition(partial(set_comment, text="of rows", column="n"))
    about = table.plan_definition(partial(set_comment, text="all"))

    assert [change.name for change in added.schema.added] == ["note"]
    (change,) = said.schema.changed
    assert change.after is not None
    assert (change.name, change.after.comment) == ("n", "of rows")
    assert in_row(about.details) == [("description", None, "all")]


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        ({"delta.appendOnly": "perhaps"}, PropertyError),
        ({"delta.enableChangeDataFeed": "true"}, ProtocolUpgradeError),
    ],
)
def test_what_a_commit_refuses_is_refused(table, properties, error):
    with pytest.raises(error):
        table.plan_definition(partial(set_properties, properties=properties, root=ROOT))


def test_a_version_that_is_not_written_here_is_refused(table: DeltaTable) -> None:
    with pytest.raises(UnsupportedWriteError):
        table.plan_definition(
            partial(upgrade_protocol, reader=None, writer=8, root=ROOT)
        )


class TestAConstraint:
    def test_is_checked_against_every_row(self, table: DeltaTable) -> None:
        seen: list[tuple[int, int | None]] = []

        plan = table.plan_constraint(
            "low", "n < 3 AND s IS NOT NULL", on_progress=lambda *at: seen.append(at)
        )

        assert plan.checked is not None
        assert (plan.checked.num_rows, plan.checked.num_violating) == (3, 1)
        assert plan.checked.rows == ({"n": 3, "s": None, "p": "x"},)
        assert seen[-1] == (3, 3)
        with pytest.raises(ConstraintViolatedError, match="1 row breaks"):
            carry_out_definition(table.store, plan)

    def test_shows_five_of_many_rows(self) -> None:
        table = TableBuilder().property("delta.constraints.any", "n > 0").build()
        for _ in range(2):
            table.append(pa.table({"n": range(1, 5)}))

        checked = table.plan_constraint("low", "n > 100").checked

        assert checked is not None
        assert (checked.num_violating, len(checked.rows)) == (8, 5)

    def test_that_is_true_is_committed_by_the_plan(self, table: DeltaTable) -> None:
        plan = table.plan_constraint("low", "n < 9")

        carry_out_definition(table.store, plan, user_name="eve")

        properties = table.snapshot().metadata.configuration
        assert properties["delta.constraints.low"] == "n < 9"
        assert table.read_commit(2)[0]["commitInfo"]["userName"] == "eve"
