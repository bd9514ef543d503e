"""A recipient opens the link: public, one time, and safe from those who only look."""

import json
import logging
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from apps.audit.models import AuditEvent
from apps.pages.actions import command_stamp
from apps.sharing.access.grants.rules import rule_for
from apps.sharing.issuing import tokens
from apps.sharing.models import (
    ActivationLink,
    Recipient,
    RecipientToken,
    Share,
    SharedTable,
)
from apps.tables.models import Table
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_protocol,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)

pytestmark = pytest.mark.django_db
DAY = timedelta(days=1)
SECRET = "customer = 'initech'"
PRIVATE = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


@pytest.fixture(autouse=True)
def provider(settings: Settings) -> None:
    settings.PROVIDER_NAME = "ACME & sons"
    settings.PROVIDER_CONTACT = "data-sharing@acme.example"
    settings.PUBLIC_URL = "https://share.acme.example"


@pytest.fixture
def globex() -> Recipient:
    """A recipient of two tables, one of them in part."""
    recipient = new_recipient("globex")
    retail = new_share("retail")
    orders = new_table("sales.orders", num_records=9_100_000)
    new_shared_table(retail, "sales.orders", table=orders, condition="country = 'DE'")
    products = new_table("ref.products", num_records=48_210)
    new_shared_table(retail, "ref.products", table=products)
    new_grant(retail, recipient)
    return recipient


@pytest.fixture
def token(globex: Recipient) -> RecipientToken:
    return new_token(
        globex,
        token_sha256=None,
        activated_at=None,
        expires_at=timezone.now() + 90 * DAY,
    )[0]


@pytest.fixture
def path(token: RecipientToken) -> str:
    url = tokens.issue_link(token, stamp=command_stamp()).link
    return url.removeprefix("https://share.acme.example")


def words(text: str) -> str:
    return " ".join(text.split())


class TestThePage:
    def test_says_what_is_shared_and_what_to_do(self, path: str) -> None:
        answer = Client().get(path)

        text = words(answer.content.decode())
        assert answer.status_code == 200
        assert "ACME &amp; sons has shared 2 tables with you" in text
        assert "sales.orders" in text
        assert "48.2 k rows" in text
        assert "any address" in text
        assert "globex.share#retail.ref.products" in text
        assert "https://share.acme.example/delta-sharing/" in text
        assert "mailto:data-sharing@acme.example" in text
        for tool in ("pandas", "Spark", "Polars", "DuckDB", "Power BI", "curl"):
            assert f"<span>{tool}</span>" in text

    def test_shows_no_rule_and_no_count_of_the_whole_table(self, path: str) -> None:
        text = Client().get(path).content.decode()

        assert "a part of this table" in text
        assert "9.1 M rows" not in text
        assert "country" not in text

    @cases(
        "rule, own",
        {
            "of all": ({"condition": SECRET, "columns": ["id"]}, {}),
            "of this recipient": ({}, {"condition": SECRET, "columns": ["id"]}),
            "that asks for a value": (
                {"condition": f"salary > recipient.salary AND {SECRET}"},
                {},
            ),
            "that cannot be read": ({"condition": f"salary > ({SECRET}"}, {}),
        },
    )
    def test_tells_nothing_of_a_rule(self, globex, path, rule, own) -> None:
        columns = [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in (("id", "long"), ("salary", "variant"))
        ]
        table = new_table("hr.staff", num_records=4_711)
        schema = json.dumps({"type": "struct", "fields": columns})
        new_metadata(table, schema_string=schema)
        new_protocol(table, min_reader_version=3, reader_features=["variantType"])
        share = Share.objects.get()
        shared = new_shared_table(share, "hr.staff", table=table, **rule)
        if own:
            globex.rules.create(shared_table=shared, **own)

        text = Client().get(path).content.decode()

        assert "hr.staff" in text
        assert text.count("a part of this table") == 2
        assert not [w for w in ("initech", "recipient.", "4.7 k", "4711") if w in text]
        if rule.get("columns") or own:
            assert "salary" not in text

    @pytest.mark.parametrize(
        ("num_rows", "said"),
        [
            (928, "928 rows: a part of this table"),
            (1, "1 row: a part of this table"),
            (0, "0 rows: a part of this table"),
            (None, "<span>a part of this table</span>"),
        ],
    )
    def test_counts_what_the_recipient_reads(self, globex, path, num_rows, said):
        shared = SharedTable.objects.get(name="orders")
        rule = rule_for(shared, globex).digest
        for version, rows in ((3, 7), (4, num_rows)):
            shared.prepared_versions.create(
                rule=rule,
                version=version,
                num_rows=rows,
                num_signed=0,
                num_rewritten=1,
                num_absent=0,
                size_bytes=1,
                prepared_at=timezone.now(),
            )

        assert said in words(Client().get(path).content.decode())

    def test_shows_what_the_provider_wrote(self, path: str) -> None:
        SharedTable.objects.filter(name="orders").update(comment="Orders of <Germany>")

        text = Client().get(path).content.decode()

        assert "Orders of &lt;Germany&gt;" in text

    @cases(
        "withdraw",
        {
            "its share is off": lambda _: Share.objects.update(
                off_since=timezone.now()
            ),
            "its files are gone": lambda shared: Table.objects.filter(
                id=shared.table_id
            ).update(vanished_at=timezone.now()),
        },
    )
    def test_names_no_table_that_is_not_listed(self, path, withdraw) -> None:
        withdraw(SharedTable.objects.get(name="orders"))

        text = Client().get(path).content.decode()

        assert "sales.orders" not in text

    def test_is_private(self, path: str) -> None:
        answer = Client().get(path)

        for name, value in PRIVATE.items():
            assert answer[name] == value
        assert "default-src 'self'" in answer["Content-Security-Policy"]
        assert path not in answer.content.decode()

    def test_names_are_text(self, globex: Recipient, path: str) -> None:
        share = new_share("<b>x&y")
        new_shared_table(share, "<i>.<img>", condition="a < '<script>'")
        new_grant(share, globex)
        Recipient.objects.filter(id=globex.id).update(name="<script>1&\"'")

        text = Client().get(path).content.decode()

        assert not re.search(r"<(b>x|i>|img>|script>(1|'))", text)
        assert "&lt;script&gt;1" in text

    def test_of_somebody_without_tables_says_so(self) -> None:
        token, _ = new_token(
            token_sha256=None, activated_at=None, expires_at=timezone.now() + DAY
        )
        url = tokens.issue_link(token, stamp=command_stamp()).link

        text = Client().get(url.removeprefix("https://share.acme.example"))

        assert "No tables yet" in text.content.decode()


class TestWhoOnlyLooks:
    def test_does_not_spend_the_link(self, path: str, token: RecipientToken) -> None:
        scanner = Client(HTTP_USER_AGENT="MailScanner/1.0")

        for _ in range(3):
            assert scanner.get(path).status_code == 200
            assert scanner.head(path).status_code == 200
        assert scanner.options(path).status_code == 405

        token.refresh_from_db()
        assert token.token_sha256 is None
        assert ActivationLink.objects.get().used_at is None
        assert Client().post(path).status_code == 200

    def test_is_recorded_without_the_nonce(self, path: str, token: RecipientToken):
        Client(HTTP_USER_AGENT="MailScanner/1.0").get(path)
        Client().head(path)

        event = AuditEvent.objects.get(action="activation.view")
        assert (event.recipient, event.token_prefix) == ("globex", token.prefix)
        assert (event.status, event.user_agent) == (200, "MailScanner/1.0")
        assert path.rpartition("/")[2] not in str(vars(event))


class TestTheDownload:
    def test_is_a_profile_file(self, path: str, token: RecipientToken) -> None:
        answer = Client().post(path)

        assert answer.status_code == 200
        assert answer["Content-Type"] == "application/json"
        assert answer["Content-Disposition"] == 'attachment; filename="globex.share"'
        for name, value in PRIVATE.items():
            assert answer[name] == value
        profile = answer.json()
        assert profile["shareCredentialsVersion"] == 1
        assert profile["endpoint"] == "https://share.acme.example/delta-sharing/"
        assert profile["bearerToken"].startswith(token.prefix)
        assert profile["expirationTime"].endswith("Z")

    def test_works_one_time(self, path: str) -> None:
        secret = Client().post(path).json()["bearerToken"]

        for answer in (Client().post(path), Client().get(path)):
            assert answer.status_code == 410
            text = answer.content.decode()
            assert "This link has been used" in text
            assert "If it was not you" in text
            assert secret not in text
        for event in AuditEvent.objects.all():
            assert secret not in str(vars(event))
        downloads = AuditEvent.objects.filter(action="activation.download")
        assert sorted(event.status for event in downloads) == [200, 410]


class TestTheDownloadWithoutABrowser:
    @pytest.mark.parametrize(
        "headers",
        [
            pytest.param({}, id="as curl sends it"),
            pytest.param({"Origin": "null"}, id="of a page that sends no referrer"),
            pytest.param({"Origin": "https://mail.example"}, id="of another site"),
        ],
    )
    def test_needs_nothing_but_the_link(self, path: str, headers: dict[str, str]):
        answer = Client(enforce_csrf_checks=True).post(path, headers=headers)

        assert answer.status_code == 200
        assert answer.json()["shareCredentialsVersion"] == 1

    def test_leaves_no_cookie_with_the_recipient(self, path: str) -> None:
        client = Client(enforce_csrf_checks=True)

        client.get(path)
        client.post(path)

        assert not client.cookies


class TestALinkThatDoesNotWork:
    @pytest.mark.parametrize("method", ["get", "head", "post"])
    def test_because_nobody_issued_it(self, method: str) -> None:
        answer = getattr(Client(), method)("/activate/nonsense")

        assert answer.status_code == 404
        for name, value in PRIVATE.items():
            assert answer[name] == value
        if method != "head":
            assert "This link is not valid" in answer.content.decode()
            assert "data-sharing@acme.example" in answer.content.decode()
        assert not AuditEvent.objects.filter(action="activation.view").exists()

    @pytest.mark.parametrize("nonce", ["%00", "%F0%9F%A6%86", "a" * 3000, "..%5C"])
    def test_because_it_is_odd(self, nonce: str) -> None:
        assert Client().get(f"/activate/{nonce}").status_code == 404

    @pytest.mark.parametrize("method", ["get", "post"])
    def test_because_its_time_is_over(self, path: str, method: str) -> None:
        ActivationLink.objects.update(expires_at=timezone.now())

        answer = getattr(Client(), method)(path)

        assert answer.status_code == 410
        assert "This link has expired" in answer.content.decode()

    @pytest.mark.parametrize("method", ["get", "head", "post"])
    def test_because_the_address_may_not_come_in(self, path, globex, method):
        networks = ["10.1.4.0/24"]
        Recipient.objects.filter(id=globex.id).update(allowed_networks=networks)

        outside = getattr(Client(REMOTE_ADDR="192.0.2.7"), method)(path)
        forged = getattr(Client(REMOTE_ADDR="192.0.2.7"), method)(
            path, headers={"X-Forwarded-For": "10.1.4.9"}
        )

        for answer in (outside, forged):
            assert answer.status_code == 403
            assert "globex" not in answer.content.decode()
        inside = getattr(Client(REMOTE_ADDR="10.1.4.9"), method)(path)
        assert inside.status_code == 200

    def test_is_recorded_with_its_cause(self, path: str) -> None:
        ActivationLink.objects.update(expires_at=timezone.now())

        Client().get(path)

        event = AuditEvent.objects.get(action="activation.view")
        assert (event.status, event.error_code) == (410, "activation-link-expired")

    def test_asks_whoever_sent_it_where_no_contact_is_set(self, settings: Settings):
        settings.PROVIDER_CONTACT = ""

        text = Client().get("/activate/nonsense").content.decode()

        assert "the person who sent you this link" in text


def test_no_log_holds_the_nonce(path: str, caplog: pytest.LogCaptureFixture) -> None:
    from deltaweb.environment.logs import HideSignInLinks

    with caplog.at_level(logging.DEBUG):
        Client().post(path)
        Client().get(path)
        Client().get("/activate/nonsense")

    nonce = path.rpartition("/")[2]
    hide = HideSignInLinks()
    written = [r.getMessage() for r in caplog.records if hide.filter(r)]
    assert any("/activate/" in line for line in written)
    assert not any(nonce in line or "nonsense" in line for line in written)
