"""`deltaweb share`, in words and in JSON."""

import io
import json
from pathlib import Path

import pytest
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.models import Recipient, Share, SharedTable
from apps.tables.models import Table
from tests.functional.command_line import Ran, refusal, run_json
from tests.functional.share_commands import written_table
from tests.support.logs.delta_logs import add, deletion_vector, metadata, protocol
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db


class TestShare:
    def test_a_share_is_made_filled_shown_and_deleted(self, tmp_path: Path) -> None:
        written_table(tmp_path, name="crm.orders")

        made = run_json("share", "create", "Sales", "--comment", "Ours")
        added = run_json(
            "share", "add-table", "sales", "crm.Orders", "--table", "crm.orders"
        )
        shown = run_json("share", "show", "SALES")
        listed = run_json("share", "list")

        assert (made["name"], made["comment"], made["tables"]) == ("Sales", "Ours", [])
        assert added["name"] == "crm.Orders"
        assert added["warnings"] == []
        assert shown["tables"] == [
            {name: value for name, value in added.items() if name != "warnings"}
        ]
        assert (
            shown["tables"][0]
            | {
                "share": "Sales",
                "schema": "crm",
                "table": "crm.orders",
                "with_history": True,
                "start_version": None,
                "condition": None,
            }
            == shown["tables"][0]
        )
        assert [(share["name"], share["num_tables"]) for share in listed] == [
            ("Sales", 1)
        ]

        run_json("share", "remove-table", "Sales", "CRM.orders", "--yes")
        assert not SharedTable.objects.exists()
        assert run_json("share", "delete", "sales", "--yes")["deleted"] is True
        assert not Share.objects.exists()
        assert run_json("share", "list") == []

    def test_people_read_lines(self, tmp_path: Path) -> None:
        written_table(tmp_path, name="crm.orders")
        Ran("share", "create", "sales", "--comment", "Ours")

        added = Ran(
            "share", "add-table", "sales", "crm.orders", "--table", "crm.orders"
        )
        shown = Ran("share", "show", "sales").stdout
        listed = Ran("share", "list").stdout

        assert added.stdout == (
            "Added crm.orders to sales: the table crm.orders, all versions.\n"
        )
        assert added.stderr == ""
        assert "recipients           none" in shown
        assert "crm.orders  crm.orders     all versions" in shown
        assert listed.splitlines()[1].split() == ["sales", "1", "Ours"]

    def test_an_empty_installation_says_what_to_do(self) -> None:
        assert Ran("share", "list").stdout == "No shares yet: share create NAME\n"
        assert "recipient create" in Ran("recipient", "list").stdout

    @pytest.mark.parametrize(
        ("options", "shared"),
        [
            pytest.param(["--no-history"], (False, None), id="no history"),
            pytest.param(["--start-version", 2], (True, 2), id="from a version on"),
        ],
    )
    def test_history_is_shared_as_asked(self, tmp_path, options, shared):
        written_table(tmp_path)
        new_share()

        Ran("share", "add-table", "sales", "s.t", "--table", "orders", *options)

        table = SharedTable.objects.get()
        assert (table.with_history, table.start_version) == shared

    def test_rows_and_columns_are_chosen(self) -> None:
        table = new_table()
        new_metadata(table, partition_columns=["note"])
        new_share()
        arguments = ("share", "add-table", "sales", "s.t", "--table", "orders")

        assert "columns are id, note" in refusal(*arguments, "--where", "ib = 1")
        added = run_json(*arguments, "--where", "note = 'EU'", "--columns", "id, NOTE")

        assert added["condition"] == added["partition_filter"] == "note = 'EU'"
        assert added["columns"] == ["id", "note"]

    def test_a_table_that_clients_could_misread_is_shared_with_a_warning(
        self, tmp_path: Path
    ) -> None:
        features = ["deletionVectors"]
        written_table(
            tmp_path,
            protocol(3, 7, readerFeatures=features, writerFeatures=features),
            metadata(),
            add("a.parquet", deletionVector=deletion_vector("x")),
        )
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders", "--json")

        assert SharedTable.objects.exists()
        first, second, third = json.loads(ran.stdout)["warnings"]
        assert first.startswith("orders: ")
        assert "Deletion vectors" in first
        assert "delta format can read the table" in second
        assert "parquet format are refused" in second
        assert "as plain files (--plain)" in third
        said = [f"Warning: {one}" for one in (first, second, third)]
        assert ran.stderr.splitlines() == said

    def test_a_feature_that_is_not_used_is_no_warning(self, tmp_path: Path) -> None:
        features = ["deletionVectors"]
        written_table(
            tmp_path,
            protocol(3, 7, readerFeatures=features, writerFeatures=features),
            metadata(),
            add("a.parquet"),
        )
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders")

        assert ran.stderr == ""

    def test_a_table_that_has_gone_is_shared_with_a_warning(self, tmp_path: Path):
        new_table("orders", location=str(tmp_path / "gone"))
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders")

        assert SharedTable.objects.exists()
        assert "gone" in ran.stderr

    def test_a_restricted_table_is_shared_with_a_warning(self, tmp_path: Path) -> None:
        written_table(tmp_path, is_private=True)
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders")

        assert SharedTable.objects.exists()
        assert "is private, but recipients can read it" in ran.stderr

    def test_a_shared_table_cannot_be_removed(self) -> None:
        table = new_table()
        new_shared_table(new_share("sales"), "s.t", table=table)
        new_shared_table(new_share("more"), "s.t", table=table)

        said = refusal("table", "remove", "orders", "--yes")

        assert "the share more, the share sales" in said
        assert Table.objects.exists()

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("show", "none"), "No share is named 'none'"),
            (("create", "a b"), "it contains a space"),
            (("create", "SALES"), "exists already"),
            (("add-table", "sales", "t", "--table", "x"), "schema.table"),
            (("add-table", "sales", "s.t", "--table", "x"), "No table is named 'x'"),
            (("add-table", "none", "s.t", "--table", "x"), "No share is named"),
            (("remove-table", "sales", "s.t", "--yes"), "has no table 's.t'"),
            (("delete", "none", "--yes"), "No share is named"),
        ],
    )
    def test_refuses_in_one_sentence(self, arguments: tuple[str, ...], said: str):
        new_share("sales")

        assert said in refusal("share", *arguments)

    def test_asks_before_it_destroys(self, monkeypatch: pytest.MonkeyPatch) -> None:
        share = new_share()
        new_shared_table(share, "s.t")
        new_grant(share, new_recipient())
        monkeypatch.setattr("sys.stdin", io.StringIO(""))

        for arguments in (
            ("share", "delete", "sales"),
            ("share", "remove-table", "sales", "s.t"),
            ("recipient", "delete", "acme"),
            ("recipient", "revoke", "acme"),
        ):
            assert "Nothing was changed" in refusal(*arguments, code=2)
        assert SharedTable.objects.exists()
        assert Recipient.objects.exists()


class TestUse:
    def test_is_shown_of_a_share_and_of_a_recipient(self) -> None:
        share, recipient = new_share(), new_recipient()
        for status in (200, 404):
            AuditEvent.objects.create(
                at=timezone.now(),
                kind=AuditEvent.Kind.CALL,
                action="table.query",
                share=share.name,
                recipient_id=recipient.id,
                size_bytes=4096,
                status=status,
            )

        for noun, name in (("share", "sales"), ("recipient", "acme")):
            use = run_json(noun, "show", name)["use"]
            assert (use["num_requests"], use["num_refused"]) == (2, 1)
            assert len(use["days"]) == use["num_days"] == 30
            assert use["last"]["action"] == "table.query"
            said = "requests in 30 days  2, 1 refused; 8,192 bytes offered"
            assert said in Ran(noun, "show", name).stdout


class TestRules:
    def test_a_share_is_made_ready_and_turned_off(self, tmp_path: Path) -> None:
        written_table(tmp_path, name="crm.orders")
        Ran("share", "create", "sales")
        Ran("share", "add-table", "sales", "crm.orders", "--table", "crm.orders")

        assert (
            "No recipient can read sales yet" in Ran("share", "prepare", "sales").stdout
        )
        Ran("recipient", "create", "acme", "--share", "sales")
        assert "is shared in part" in Ran("share", "prepare", "sales").stdout
        assert run_json("share", "off", "sales")["off_since"] is not None
        assert run_json("share", "on", "sales")["off_since"] is None

    def test_a_recipient_has_properties(self) -> None:
        new_share()
        made = ("recipient", "create", "acme", "--share", "sales")

        options = ("--property", "region=EU", "--property", "level=3")
        shown = run_json(*made, *options)

        assert shown["properties"] == ["region=EU", "level=3"]
        assert Recipient.objects.get().properties == {"region": "EU", "level": 3}

    def test_one_recipient_may_see_less(self) -> None:
        table = new_table("crm.orders")
        new_metadata(table)
        share = new_share()
        new_shared_table(share, "crm.orders", table=table)
        new_recipient("acme")
        narrow = ("share", "narrow", "sales", "crm.orders", "--recipient", "acme")

        held = run_json(*narrow, "--where", "id > 3", "--columns", "ID")
        kept = run_json(*narrow)
        freed = run_json(*narrow, "--no-where", "--no-columns")

        assert (held["condition"], held["columns"]) == ("id > 3", ["id"])
        assert kept == held
        assert (freed["condition"], freed["columns"]) == ("", [])
        assert "no column 'no'" in refusal(*narrow, "--columns", "no")

    def test_narrow_says_until_when_earlier_urls_open(self) -> None:
        share = new_share()
        for name, location in (("a", "/lake/a"), ("b", "s3://lake/b")):
            table = new_table(name, location=location)
            new_metadata(table)
            new_shared_table(share, f"crm.{name}", table=table)
        new_recipient("acme")
        narrow = ("--recipient", "acme", "--columns", "id")

        here = Ran("share", "narrow", "sales", "crm.a", *narrow).stdout
        there = Ran("share", "narrow", "sales", "crm.b", *narrow).stdout
        known = run_json("share", "narrow", "sales", "crm.b", *narrow)

        assert "no longer work" in here
        assert "issued before work until" in there
        assert known["earlier_urls_end_at"] is not None
