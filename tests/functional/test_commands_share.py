"""`deltaweb share ...` and `deltaweb recipient ...` as scripts use them."""

import io
import json
import stat
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.sharing.errors import TokenExpiredError, TokenRevokedError
from apps.sharing.models import Recipient, RecipientToken, Share, SharedTable
from apps.sharing.selectors.access import authenticate
from apps.sharing.services.activation import activate
from apps.tables.models import Table
from tests.delta_logs import (
    Action,
    add,
    commit_bytes,
    deletion_vector,
    metadata,
    protocol,
)
from tests.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
)

pytestmark = pytest.mark.django_db


class Ran:
    """What a command wrote."""

    def __init__(self, *arguments: object) -> None:
        out, err = io.StringIO(), io.StringIO()
        call_command(*map(str, arguments), stdout=out, stderr=err)
        self.stdout, self.stderr = out.getvalue(), err.getvalue()


def run_json(*arguments: object) -> Any:  # noqa: ANN401 (any document)
    return json.loads(Ran(*arguments, "--json").stdout)


def refusal(*arguments: object, code: int = 1) -> str:
    """Return the sentence with which a command refuses."""
    with pytest.raises(CommandError) as caught:
        Ran(*arguments)
    assert caught.value.returncode == code
    return str(caught.value)


def written_table(
    folder: Path,
    *actions: Action,
    name: str = "orders",
    **fields: Any,  # noqa: ANN401 (columns)
) -> Table:
    """A table whose log is below `folder`; by default every client reads it."""
    location = folder / name
    log = location / "_delta_log"
    log.mkdir(parents=True)
    first = commit_bytes(*(actions or (protocol(), metadata())))
    (log / f"{0:020}.json").write_bytes(first)
    return new_table(name, location=str(location), **fields)


def profile_of(path: Path) -> Any:  # noqa: ANN401 (a document)
    return json.loads(path.read_text())


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
                "partition_filter": None,
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
            "Added crm.orders to sales: the table crm.orders, whole history.\n"
        )
        assert added.stderr == ""
        assert "recipients           none" in shown
        assert "crm.orders  crm.orders     whole history" in shown
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
    def test_history_is_shared_as_asked(
        self, tmp_path: Path, options: list[object], shared: tuple[bool, int | None]
    ) -> None:
        written_table(tmp_path)
        new_share()

        Ran("share", "add-table", "sales", "s.t", "--table", "orders", *options)

        table = SharedTable.objects.get()
        assert (table.with_history, table.start_version) == shared

    def test_a_filter_over_partitions_is_kept(self) -> None:
        table = new_table()
        new_metadata(table, partition_columns=["note"])
        new_share()
        arguments = ("share", "add-table", "sales", "s.t", "--table", "orders")

        assert "Only note may be named" in refusal(*arguments, "--where", "id = 1")
        added = run_json(*arguments, "--where", "note = 'EU'")

        assert added["partition_filter"] == "note = 'EU'"

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
        first, second = json.loads(ran.stdout)["warnings"]
        assert first.startswith("orders: ")
        assert "Deletion vectors" in first
        assert ran.stderr.splitlines() == [f"Warning: {first}", f"Warning: {second}"]

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

    def test_a_table_that_has_gone_is_shared_with_a_warning(
        self, tmp_path: Path
    ) -> None:
        new_table("orders", location=str(tmp_path / "gone"))
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders")

        assert SharedTable.objects.exists()
        assert "gone" in ran.stderr

    def test_a_restricted_table_is_shared_with_a_warning(self, tmp_path: Path) -> None:
        written_table(tmp_path, restricted=True)
        new_share()

        ran = Ran("share", "add-table", "sales", "s.t", "--table", "orders")

        assert SharedTable.objects.exists()
        assert "hidden from viewers" in ran.stderr

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
            (("create", "a b"), "it holds a space"),
            (("create", "SALES"), "exists already"),
            (("add-table", "sales", "t", "--table", "x"), "schema.table"),
            (("add-table", "sales", "s.t", "--table", "x"), "No table is named 'x'"),
            (("add-table", "none", "s.t", "--table", "x"), "No share is named"),
            (("remove-table", "sales", "s.t", "--yes"), "has no table 's.t'"),
            (("delete", "none", "--yes"), "No share is named"),
        ],
    )
    def test_refuses_in_one_sentence(
        self, arguments: tuple[str, ...], said: str
    ) -> None:
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
            assert "Nothing was changed" in refusal(*arguments)
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


class TestRecipient:
    @pytest.fixture(autouse=True)
    def _share(self) -> None:
        new_share("sales")

    def test_is_made_with_a_link_to_hand_over(self) -> None:
        new_share("stock")
        made = run_json(
            *("recipient", "create", "Acme", "--share", "sales", "--share", "STOCK"),
            *("--expires", "30d", "--contact", "data@acme.example"),
            *("--allow", "192.0.2.0/24"),
        )

        assert (made["name"], made["shares"]) == ("Acme", ["sales", "stock"])
        assert made["allowed_networks"] == ["192.0.2.0/24"]
        assert made["token"]["state"] == "WAITING"
        nonce = made["activation_url"].rpartition("/activate/")[2]
        profile = activate(
            nonce,
            address="192.0.2.7",
            user_agent="",
            request_id="",
            now=timezone.now(),
        )
        token = authenticate(profile.bearer_token, now=timezone.now())
        assert token.recipient.name == "Acme"
        assert (token.expires_at - token.created_at).days == 30

    def test_the_link_stands_alone_on_the_first_line(self) -> None:
        lines = Ran(
            "recipient", "create", "acme", "--share", "sales"
        ).stdout.splitlines()

        assert lines[0].startswith("http://127.0.0.1:8000/activate/")
        assert "works once" in lines[2]

    def test_writes_a_profile_for_its_owner_alone_and_prints_no_secret(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "acme.share"

        ran = Ran("recipient", "create", "acme", "--share", "sales", "--profile", path)

        secret = profile_of(path)["bearerToken"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert authenticate(secret, now=timezone.now()).prefix
        assert secret not in ran.stdout + ran.stderr
        assert "/activate/" not in ran.stdout

    def test_never_overwrites_silently(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        path.write_text("precious")
        path.chmod(0o644)
        arguments = (
            "recipient",
            "create",
            "acme",
            "--share",
            "sales",
            "--profile",
            path,
        )

        assert "pass --force" in refusal(*arguments)
        assert path.read_text() == "precious"
        assert not Recipient.objects.exists()
        Ran(*arguments, "--force")

        assert profile_of(path)["shareCredentialsVersion"] == 1
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert list(tmp_path.iterdir()) == [path]

    @pytest.mark.parametrize(
        ("name", "said"),
        [("none/acme.share", "is not a folder"), ("", "is a folder")],
    )
    def test_a_place_that_cannot_be_written_changes_nothing(
        self, tmp_path: Path, name: str, said: str
    ) -> None:
        arguments = ("recipient", "create", "acme", "--share", "sales")

        assert said in refusal(*arguments, "--profile", tmp_path / name)
        assert not Recipient.objects.exists()

    @pytest.mark.parametrize(
        ("arguments", "said"),
        [
            (("create", "b", "--share", "none"), "No share is named 'none'"),
            (("create", "ACME", "--share", "sales"), "exists already"),
            (("create", "b", "--share", "sales", "--expires", "1y"), "neither a span"),
            (("create", "b", "--share", "sales", "--expires", "999d"), "at most"),
            (
                ("create", "b", "--share", "sales", "--allow", "10.0.0.1/8"),
                "10.0.0.0/8",
            ),
            (("show", "none"), "No recipient is named 'none'"),
            (("link", "acme"), "A rotation makes one"),
            (("grant", "acme", "none"), "No share is named"),
            (("rotate", "none"), "No recipient is named"),
            (("rotate", "acme", "--keep-old", "soon"), "neither a span"),
            (("revoke", "acme", "--token", "dwt_0", "--yes"), "has no token"),
        ],
    )
    def test_refuses_in_one_sentence(
        self, arguments: tuple[str, ...], said: str
    ) -> None:
        new_recipient("acme")

        assert said in refusal("recipient", *arguments)
        assert Recipient.objects.count() == 1

    @pytest.mark.parametrize("verb", ["grant", "ungrant"])
    def test_bad_usage_exits_with_2(self, verb: str) -> None:
        new_recipient("acme")

        assert refusal("recipient", verb, "acme", code=2) == "Name a share."

    def test_grants_come_and_go(self) -> None:
        new_recipient("acme")
        new_share("stock")

        granted = run_json("recipient", "grant", "acme", "sales", "--share", "stock")
        left = run_json("recipient", "ungrant", "ACME", "Sales")
        again = Ran("recipient", "ungrant", "acme", "sales")

        assert granted["shares"] == ["sales", "stock"]
        assert left["shares"] == ["stock"]
        assert "could not read sales" in again.stderr
        assert again.stdout == "acme can read stock.\n"

    def test_a_new_link_withdraws_the_old(self) -> None:
        old = run_json("recipient", "create", "acme", "--share", "sales")

        new = run_json("recipient", "link", "acme")

        assert new["activation_url"] != old["activation_url"]
        assert new["token"]["prefix"] == old["token"]["prefix"]
        assert Recipient.objects.get().tokens.count() == 1

    def test_rotation_keeps_the_old_token_for_a_day(self, tmp_path: Path) -> None:
        old, new = tmp_path / "old.share", tmp_path / "new.share"
        Ran("recipient", "create", "acme", "--share", "sales", "--profile", old)

        Ran("recipient", "rotate", "acme", "--profile", new)

        now = timezone.now()
        retiring = authenticate(profile_of(old)["bearerToken"], now=now)
        replacement = authenticate(profile_of(new)["bearerToken"], now=now)
        assert retiring.replaced_by == replacement
        assert retiring.retires_at
        assert 86_000 < (retiring.retires_at - now).total_seconds() <= 86_400

    def test_rotation_may_end_the_old_token_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        Ran("recipient", "create", "acme", "--share", "sales", "--profile", path)

        rotated = run_json("recipient", "rotate", "acme", "--keep-old", "0")

        assert rotated["token"]["state"] == "WAITING"
        with pytest.raises(TokenExpiredError):
            authenticate(profile_of(path)["bearerToken"], now=timezone.now())

    def test_revokes_all_tokens_or_one(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        made = run_json(
            "recipient", "create", "acme", "--share", "sales", "--profile", path
        )
        Ran("recipient", "rotate", "acme")
        prefix = made["token"]["prefix"]

        one = run_json(
            "recipient", "revoke", "acme", "--token", f"{prefix}...", "--yes"
        )
        rest = run_json("recipient", "revoke", "acme", "--yes")

        assert (one["num_revoked"], rest["num_revoked"]) == (1, 1)
        with pytest.raises(TokenRevokedError):
            authenticate(profile_of(path)["bearerToken"], now=timezone.now())
        assert {token["state"] for token in rest["tokens"]} == {"REVOKED"}

    def test_people_read_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        Ran("recipient", "create", "acme", "--share", "sales", "--profile", path)
        token = RecipientToken.objects.get()

        shown = Ran("recipient", "show", "acme").stdout
        listed = Ran("recipient", "list").stdout

        assert "allowed from         anywhere" in shown
        assert f"{token.prefix}...  active" in shown
        assert listed.splitlines()[1].split() == [
            "acme",
            "sales",
            "1",
            "active",
            "never",
        ]

    def test_is_deleted_with_its_tokens(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        Ran("recipient", "create", "acme", "--share", "sales", "--profile", path)

        assert run_json("recipient", "delete", "acme", "--yes")["deleted"] is True

        assert not Recipient.objects.exists()
        assert not RecipientToken.objects.exists()

    def test_each_change_is_recorded_without_a_secret(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        made = run_json("recipient", "create", "acme", "--share", "sales")
        Ran("recipient", "rotate", "acme", "--profile", path)
        Ran("recipient", "revoke", "acme", "--yes")

        events = AuditEvent.objects.order_by("id")
        assert list(events.values_list("action", flat=True)) == [
            "recipient.create",
            "grant.add",
            "token.issue",
            "link.issue",
            "token.rotate",
            "token.profile",
            "token.revoke",
        ]
        assert {event.actor for event in events} == {"command line"}
        record = str(list(events.values()))
        assert profile_of(path)["bearerToken"] not in record
        assert made["activation_url"].rpartition("/")[2] not in record
