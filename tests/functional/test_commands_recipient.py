"""`deltaweb recipient`, in words and in JSON."""

import stat
from pathlib import Path

import pytest
from django.utils import timezone

from apps.audit.models import AuditEvent
from apps.pages.actions import person_at_terminal
from apps.sharing.access.callers import authenticate
from apps.sharing.errors import TokenExpiredError, TokenRevokedError
from apps.sharing.issuing.activation import Caller, activate
from apps.sharing.issuing.profile import Profile
from apps.sharing.models import Recipient, RecipientToken
from tests.functional.command_line import Ran, refusal, run_json
from tests.functional.share_commands import profile_of
from tests.support.pages.factories import new_recipient, new_share

pytestmark = pytest.mark.django_db


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
        assert made["token"]["state"] == "waiting"
        nonce = made["activation_url"].rpartition("/activate/")[2]
        profile = activate(
            nonce,
            caller=Caller(address="192.0.2.7", user_agent="", request_id=""),
            now=timezone.now(),
        )
        assert isinstance(profile, Profile)
        token = authenticate(profile.bearer_token, now=timezone.now())
        assert token.recipient.name == "Acme"
        assert (token.expires_at - token.created_at).days == 30

    def test_the_link_stands_alone_on_the_first_line(self) -> None:
        lines = Ran(
            "recipient", "create", "acme", "--share", "sales"
        ).stdout.splitlines()

        assert lines[0].startswith("http://127.0.0.1:8000/activate/")
        assert "works once" in lines[2]

    def test_writes_a_profile_for_its_owner_alone_and_prints_no_secret(self, tmp_path):
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
        ("name", "said"), [("none/acme.share", "is not a folder"), ("", "is a folder")]
    )
    def test_a_place_that_cannot_be_written_changes_nothing(self, tmp_path, name, said):
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
            (("link", "acme"), "Rotate its tokens"),
            (("grant", "acme", "none"), "No share is named"),
            (("rotate", "none"), "No recipient is named"),
            (("rotate", "acme", "--keep-old", "soon"), "neither a span"),
            (("revoke", "acme", "--token", "dwt_0", "--yes"), "has no token"),
        ],
    )
    def test_refuses_in_one_sentence(self, arguments: tuple[str, ...], said: str):
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

    def test_rotation_may_end_the_old_token_at_once(self, tmp_path: Path) -> None:
        path = tmp_path / "acme.share"
        Ran("recipient", "create", "acme", "--share", "sales", "--profile", path)

        rotated = run_json("recipient", "rotate", "acme", "--keep-old", "0")

        assert rotated["token"]["state"] == "waiting"
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
        assert {token["state"] for token in rest["tokens"]} == {"revoked"}

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
        assert {event.actor for event in events} == {person_at_terminal().name}
        record = str(list(events.values()))
        assert profile_of(path)["bearerToken"] not in record
        assert made["activation_url"].rpartition("/")[2] not in record
