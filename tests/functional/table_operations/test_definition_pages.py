"""The pages that change properties, columns, words, constraints and the protocol."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from django.test import Client

from apps.audit.models import AuditEvent
from apps.jobs.models import Job
from apps.tables.models import Table
from deltaweb.delta.protocol.schema import type_text
from deltaweb.table import DeltaTable
from tests.functional.table_operations.conftest import Work
from tests.support.pages.shown_words import words
from tests.support.tables.weekly_table import page_json, page_text

pytestmark = pytest.mark.django_db
TABLE = "/t/default/orders"
PROPERTIES, COLUMNS = f"{TABLE}/properties", f"{TABLE}/columns"
COMMENTS, CONSTRAINTS = f"{TABLE}/comments", f"{TABLE}/constraints"
PROTOCOL = f"{TABLE}/protocol"
Asked = Mapping[str, object]


def do(editor: Client, work: Work, page: str, asked: Asked) -> Job:
    """Look at what is asked, agree to it, and return the job that has done it."""
    answer = editor.post(page, asked)
    assert answer.status_code == 302, answer.content.decode()
    look = work()
    assert look.state == Job.State.DONE, look.error
    editor.post(page, {"seen": str(look.id)})
    job = work()
    assert job.state == Job.State.DONE, job.error
    assert "Committed version" in page_text(editor, page)
    return job


def look_at(editor: Client, work: Work, page: str, asked: Asked) -> str:
    """The page that shows what would happen."""
    answer = editor.post(page, asked)
    assert answer.status_code == 302, answer.content.decode()
    look = work()
    assert look.state == Job.State.DONE, look.error
    return page_text(editor, page)


def refused(editor: Client, page: str, asked: Asked) -> str:
    """What a page says that refuses at once."""
    answer = editor.post(page, asked)
    assert answer.status_code == 422
    assert not Job.objects.exists()
    return answer.content.decode()


def knows_constraints(folder: Path, orders: Table) -> None:
    """Let the table, and the database, have writer version 3."""
    DeltaTable(str(folder)).upgrade_protocol(writer=3)
    orders.protocol_versions.update(min_writer_version=3)


@pytest.mark.usefixtures("orders")
class TestProperties:
    def test_are_set_after_they_were_shown(self, editor, work, folder):
        asked = {"name": "delta.logRetentionDuration", "value": "interval 9 days"}

        page = look_at(editor, work, PROPERTIES, asked)
        assert "interval 9 days" in words(page)
        assert DeltaTable(str(folder)).latest_version() == 3
        do(editor, work, PROPERTIES, asked)

        configuration = DeltaTable(str(folder)).definition().metadata.configuration
        assert configuration["delta.logRetentionDuration"] == "interval 9 days"
        event = AuditEvent.objects.get(action="table.set_properties")
        assert (event.actor, event.detail["value"]) == ("eve", "interval 9 days")

    def test_go_by_an_action_of_their_own(self, editor, work, folder):
        DeltaTable(str(folder)).set_properties({"team": "blue"})

        do(editor, work, PROPERTIES, {"name": "team", "unset": "on"})

        assert not DeltaTable(str(folder)).definition().metadata.configuration
        assert AuditEvent.objects.filter(action="table.unset_properties").exists()

    def test_are_explained(self, editor: Client, orders: Table) -> None:
        orders.metadata_versions.update(
            configuration={"delta.appendOnly": "true", "team": "blue"}
        )

        page = page_text(editor, PROPERTIES)

        assert "Rows can only be added" in page
        assert "Not used by deltaweb" in page
        assert "How long the history is kept" in page
        prefilled = page_text(editor, f"{PROPERTIES}?name=delta.appendOnly&value=true")
        assert 'value="delta.appendOnly"' in prefilled

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"name": ""}, "Name a property"),
            ({"name": "a"}, "Give a value, or tick"),
            ({"name": "delta.appendOnly", "value": "maybe"}, "true or false"),
            ({"name": "delta.constraints.a", "value": "1"}, "constraint"),
        ],
    )
    def test_that_are_none_are_refused_at_once(self, editor, asked, said):
        assert said in refused(editor, PROPERTIES, asked)


@pytest.mark.usefixtures("orders")
class TestColumns:
    def test_are_added_with_type_and_words(self, editor, work, folder):
        asked: Asked = {
            "way": "add", "name": "amount", "type": "DECIMAL(9,2)", "comment": "gross",
        }  # fmt: skip

        page = look_at(editor, work, COLUMNS, asked)
        assert "<b>gross</b>" in page
        do(editor, work, COLUMNS, asked)

        column = DeltaTable(str(folder)).snapshot().schema.fields[-1]
        assert (column.name, column.metadata) == ("amount", {"comment": "gross"})
        assert AuditEvent.objects.filter(action="table.add_columns").exists()

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"way": "add", "name": "x"}, "Give a type"),
            (
                {"way": "add", "name": "x", "type": "NOTHING"},
                "there is no type of that name",
            ),
            ({"way": "add", "name": "x", "type": "INT, y INT"}, "is already complete"),
            ({"way": "add", "name": "ID", "type": "INT"}, "is there already"),
            ({"way": "rename", "name": "id"}, "Give the new name"),
            ({"way": "drop", "name": "id"}, "columnMapping"),
            ({"way": "widen", "name": "id"}, "Give the wider type"),
        ],
    )
    def test_that_do_not_fit_are_refused_at_once(self, editor, asked, said):
        assert said in refused(editor, COLUMNS, asked)

    def test_become_wider_where_the_table_lets_types_change(
        self, editor: Client, work: Work, folder: Path, orders: Table
    ) -> None:
        assert "does not allow type widening" in page_text(
            editor, f"{COLUMNS}?way=widen"
        )
        opened = DeltaTable(str(folder))
        opened.upgrade_protocol(reader=3, writer=7)
        opened.set_properties({"delta.feature.typeWidening": "supported"})
        opened.set_properties({"delta.enableTypeWidening": "true"})
        now = opened.definition()
        orders.protocol_versions.update(
            min_reader_version=3,
            min_writer_version=7,
            reader_features=now.protocol.reader_features,
            writer_features=now.protocol.writer_features,
        )
        orders.metadata_versions.update(configuration=now.metadata.configuration)
        asked = {"way": "widen", "name": "id", "type": "DECIMAL(24, 2)"}

        page = look_at(editor, work, COLUMNS, asked)
        assert "does not allow type widening" not in page
        assert "decimal(24,2)" in page
        do(editor, work, COLUMNS, asked)

        column = DeltaTable(str(folder)).snapshot().schema.find("id")
        assert column is not None
        assert type_text(column.data_type) == "decimal(24,2)"
        assert AuditEvent.objects.filter(action="table.widen_column").exists()

    def test_without_mapping_are_neither_renamed_nor_dropped(self, editor: Client):
        page = page_text(editor, f"{COLUMNS}?way=rename")

        assert "has no column mapping" in page
        assert 'name="new_name"' in page
        assert 'name="type"' not in page


@pytest.mark.usefixtures("orders")
class TestComments:
    def test_of_a_column_and_the_table_are_committed(self, editor, work, folder):
        do(editor, work, COMMENTS, {"text": "all orders"})
        do(editor, work, COMMENTS, {"column": "id", "text": "its number"})

        snapshot = DeltaTable(str(folder)).snapshot()
        assert snapshot.metadata.description == "all orders"
        assert snapshot.schema.fields[1].metadata == {"comment": "its number"}
        assert AuditEvent.objects.filter(action="table.set_comment").count() == 2

    def test_of_no_column_are_refused_at_once(self, editor: Client) -> None:
        assert "nothing" in refused(editor, COMMENTS, {"column": "nothing"})


class TestConstraints:
    def test_are_checked_against_every_row_and_added(
        self, editor: Client, work: Work, folder: Path, orders: Table
    ) -> None:
        knows_constraints(folder, orders)
        asked: Asked = {"way": "add", "name": "low", "sql": "id < 99"}

        assert "true for all <b" in look_at(editor, work, CONSTRAINTS, asked)
        do(editor, work, CONSTRAINTS, asked)
        # The database does not know the constraint yet, and lets the worker look.
        do(editor, work, CONSTRAINTS, {"way": "drop", "name": "low"})

        assert not DeltaTable(str(folder)).definition().metadata.configuration
        actions = AuditEvent.objects.values_list("action", flat=True)
        assert {"table.add_constraint", "table.drop_constraint"} <= {*actions}

    @pytest.mark.usefixtures("orders")
    def test_raise_the_protocol_where_they_have_to_by_one_agreement(
        self, editor: Client, work: Work, folder: Path
    ) -> None:
        asked: Asked = {"way": "add", "name": "low", "sql": "id < 99"}

        page = look_at(editor, work, CONSTRAINTS, asked)
        assert "The protocol of the table is upgraded." in page
        assert "Writer version 2 → 3. It adds: checkConstraints." in page
        assert "Can no longer write" in page
        assert "Spark with Delta before 0.8 (checkConstraints)" in words(page)
        assert "true for all <b" in page
        assert "This cannot be undone. A protocol cannot be lowered." in words(page)
        assert "Commit the constraint</button>" in page
        assert DeltaTable(str(folder)).latest_version() == 3
        do(editor, work, CONSTRAINTS, asked)

        opened = DeltaTable(str(folder))
        assert opened.latest_version() == 4
        assert opened.definition().protocol.min_writer_version == 3
        assert opened.definition().metadata.configuration == {
            "delta.constraints.low": "id < 99"
        }

    def test_that_rows_break_show_the_rows_and_no_button(
        self, editor: Client, work: Work, folder: Path, orders: Table
    ) -> None:
        knows_constraints(folder, orders)

        page = look_at(
            editor, work, CONSTRAINTS, {"name": "low", "way": "add", "sql": "id > 11"}
        )

        assert "2 of 6 rows violate the constraint." in page
        assert "Commit the constraint" not in page
        checked = page_json(editor, CONSTRAINTS)["job"]["result"]["checked"]
        assert checked["rows"][0] == [["p", "a"], ["id", "10"]]

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"way": "add", "name": "a"}, "Give a condition that must be true"),
            ({"way": "drop", "name": "a"}, "no constraint"),
        ],
    )
    @pytest.mark.usefixtures("orders")
    def test_that_cannot_be_are_refused_at_once(self, editor, asked, said):
        assert said in refused(editor, CONSTRAINTS, asked)

    def test_of_no_condition_are_refused_at_once(self, editor, folder, orders):
        knows_constraints(folder, orders)

        assert "other" in refused(
            editor, CONSTRAINTS, {"way": "add", "name": "a", "sql": "other > 1"}
        )


@pytest.mark.usefixtures("orders")
class TestTheProtocol:
    def test_goes_up_when_that_is_said(self, editor: Client, work: Work, folder: Path):
        asked: Asked = {"reader": 1, "writer": 7}

        page = look_at(editor, work, PROTOCOL, asked)
        assert "Writer version 2 → 7." in page
        assert "This cannot be undone." in page
        do(editor, work, PROTOCOL, asked)

        protocol = DeltaTable(str(folder)).definition().protocol
        assert protocol.min_writer_version == 7
        assert "Undo this commit" not in page_text(editor, PROTOCOL)  # for good
        assert AuditEvent.objects.filter(action="table.upgrade_protocol").exists()

    @pytest.mark.parametrize(
        ("asked", "said"),
        [
            ({"reader": 1, "writer": 1}, "never go down"),
            ({"reader": 3, "writer": 3}, "needs writer version 7"),
            ({"reader": 1, "writer": 9}, "7"),
        ],
    )
    def test_never_goes_down(self, editor: Client, asked: Asked, said: str) -> None:
        assert said in refused(editor, PROTOCOL, asked)

    def test_is_explained(self, editor: Client) -> None:
        page = page_text(editor, PROTOCOL)

        assert "reader 1, writer 2" in page
        assert "appendOnly" in page
