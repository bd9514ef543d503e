"""What recipients are to be told in time: a feed, a command, mails and a webhook."""

import base64
import hashlib
import hmac
import json
from collections.abc import Iterator
from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from apps.jobs.kinds import do_job
from apps.jobs.models import Job
from apps.sharing.models import Grant, LastRead, Recipient, Share, SharedTable
from apps.sharing.recipients import telling
from apps.tables.models import Commit
from tests.functional import command_line
from tests.functional.sharing_pages.pages import new_read
from tests.support import cases
from tests.support.pages.factories import (
    new_grant,
    new_metadata,
    new_recipient,
    new_share,
    new_shared_table,
    new_table,
    new_token,
)
from tests.support.stores.token_service import (
    Asked,
    TokenService,
    running_token_service,
)

pytestmark = [pytest.mark.django_db, pytest.mark.database]
ATOM = "{http://www.w3.org/2005/Atom}"


def told() -> list[str]:
    """What the command lists."""
    return [one["text"] for one in command_line.run_json("recipient", "reminders")]


@pytest.fixture
def shared() -> SharedTable:
    """A table whose schema changed with version 5; initech has read version 3."""
    table = new_table("crm.orders", version=6)
    for version in (4, 5, 6):
        Commit.objects.create(
            table=table,
            version=version,
            committed_at=timezone.now(),
            changes_schema=version == 5,
        )
    made = new_shared_table(new_share("retail"), "crm.orders", table=table)
    recipient = new_recipient("initech", contact="data@initech.example")
    new_grant(made.share, recipient)
    token, _ = new_token(recipient, expires_at=timezone.now() + timedelta(days=60))
    LastRead.objects.create(
        token=token, shared_table=made, version=3, read_at=timezone.now()
    )
    return made


@cases(
    "fields, is_told",
    {
        "ends soon": ({"expires_at": 13}, True),
        "ends later": ({"expires_at": 15}, False),
        "has ended": ({"expires_at": -1}, False),
        "retires soon": ({"expires_at": 60, "retires_at": 2}, True),
        "revoked": ({"expires_at": 5, "revoked_at": -1}, False),
    },
)
def test_a_token_is_told_of_before_it_ends(fields: dict[str, int], is_told) -> None:
    now = timezone.now()
    moments = {name: now + timedelta(days=days) for name, days in fields.items()}
    token, _ = new_token(new_recipient("acme"), **moments)

    assert [token.prefix in text for text in told()] == [True] * is_told


@pytest.mark.parametrize(("size_bytes", "is_told"), [(99, False), (100, True)])
def test_a_soft_limit_is_told_of_once_it_is_reached(size_bytes: int, is_told) -> None:
    acme = new_recipient("acme", soft_limit_bytes=100)
    new_read(new_share(), recipient_id=acme.id, size_bytes=size_bytes, status=200)

    month = f"{timezone.now():%B %Y}"
    expected = f"acme was offered 100 B in {month}: the soft limit is 100 B."
    assert told() == [expected] * is_told


@pytest.mark.usefixtures("shared")
def test_a_schema_is_told_of_until_it_is_read() -> None:
    expected = (
        "The schema of retail.crm.orders changes with version 5, which initech has "
        "not read yet."
    )
    assert told() == [expected]

    LastRead.objects.update(version=5)
    assert told() == []


@pytest.mark.usefixtures("shared")
@cases(
    "columns, is_told",
    {
        "of all columns": ([], True),
        "of the column that changes": (["id", "note"], True),
        "of others": (["id"], False),
    },
)
def test_a_schema_is_told_of_where_the_change_is_seen(
    shared: SharedTable, columns: list[str], is_told
) -> None:
    new_metadata(shared.table)
    fields = [{"name": "id", "type": "long", "nullable": True, "metadata": {}}]
    schema = json.dumps({"type": "struct", "fields": fields})
    new_metadata(shared.table, version=5, schema_string=schema)
    SharedTable.objects.update(columns=columns)

    assert bool(told()) == is_told


def test_a_schema_of_a_share_that_is_off_is_not_told_of(shared: SharedTable) -> None:
    Share.objects.update(off_since=timezone.now())

    assert told() == []
    assert shared.share.name == "retail"


def test_who_may_not_read_a_table_any_more_is_told_nothing_of_it() -> None:
    Grant.objects.all().delete()

    assert told() == []


@pytest.mark.usefixtures("shared")
def test_the_feed_says_what_the_command_says(admin: Client) -> None:
    answer = admin.get("/reminders.atom")

    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = ET.fromstring(answer.content)  # noqa: S314 (our own document)
    (entry,) = feed.findall(f"{ATOM}entry")
    assert [entry.findtext(f"{ATOM}title")] == told()
    assert "data@initech.example" in (entry.findtext(f"{ATOM}summary") or "")
    assert (entry.findtext(f"{ATOM}id") or "").startswith("urn:deltaweb:schema:")


@pytest.mark.usefixtures("shared")
def test_nobody_else_reads_the_feed(client: Client) -> None:
    assert client.get("/reminders.atom").status_code in {302, 401, 403}


@pytest.mark.usefixtures("shared")
def test_each_contact_gets_one_mail(mailoutbox, settings):
    settings.EMAIL_HOST = "localhost"
    soon = timezone.now() + timedelta(days=1)
    new_token(Recipient.objects.get(name="initech"), expires_at=soon)
    new_token(new_recipient("quiet"), expires_at=soon)

    ran = command_line.Ran("recipient", "reminders", "--mail")

    (mail,) = mailoutbox
    assert mail.to == ["data@initech.example"]
    assert len(mail.body.splitlines()) == 2
    assert "quiet has no contact." in ran.stderr


@pytest.mark.usefixtures("shared")
def test_a_relay_that_does_not_answer_is_one_sentence(settings: Settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1

    said = command_line.refusal("recipient", "reminders", "--mail")

    assert said.startswith("The mail relay did not accept the mail: ")


@pytest.fixture
def hook(settings: Settings) -> Iterator[TokenService]:
    """A webhook that takes what is sent from its second message on."""
    statuses = iter([500])
    with running_token_service(lambda _: (next(statuses, 204), {}, b"")) as service:
        settings.REMINDER_HOUR = timezone.now().hour
        settings.EMAIL_HOST = "localhost"
        settings.WEBHOOK_URL = f"{service.url}/hook"
        settings.WEBHOOK_SECRET = "a secret"
        settings.STORAGE_HOSTS = ["127.0.0.1"]
        yield service


def is_signed(message: Asked, *, by: bytes) -> bool:
    """Whether the signature of a message is what Standard Webhooks makes of a key."""
    sent_as, at, signature = (
        message.headers[f"webhook-{name}"] for name in ("id", "timestamp", "signature")
    )
    signed = f"{sent_as}.{at}.".encode() + message.body
    expected = hmac.new(by, signed, hashlib.sha256).digest()
    return bool(signature == f"v1,{base64.b64encode(expected).decode()}")


def by_the_clock(after: timedelta = timedelta(0)) -> list[str]:
    """Let the clock ask for what is due, do it, and return how all jobs ended."""
    telling.request_due_reminders(now=timezone.now() + after)
    for job in Job.objects.waiting():
        do_job(job.kind, str(job.id))
    return [*Job.objects.order_by("created_at").values_list("state", flat=True)]


@pytest.mark.usefixtures("shared")
def test_each_reminder_is_sent_once_in_each_way_and_again_where_that_fails(
    hook: TokenService, mailoutbox: list[EmailMessage]
) -> None:
    assert by_the_clock() == by_the_clock() == ["FAILED"]
    assert by_the_clock(timedelta(minutes=16)) == ["FAILED", "DONE"]
    assert by_the_clock(timedelta(minutes=32)) == ["FAILED", "DONE"]
    by_the_clock(timedelta(days=1))

    assert [mail.to for mail in mailoutbox] == [["data@initech.example"]]
    first, again = hook.asked
    assert (first.path, first.body) == ("/hook", again.body)
    assert [one["text"] for one in again.json["reminders"]] == told()
    assert again.headers["webhook-id"] == first.headers["webhook-id"]
    assert is_signed(again, by=b"a secret")


@pytest.mark.parametrize(
    ("secret", "end"),
    [
        (f"whsec_{base64.b64encode(b'a secret').decode()}", "DONE"),
        ("whsec_no base64", "FAILED"),
    ],
)
@pytest.mark.usefixtures("shared")
def test_a_secret_is_that_of_the_libraries_of_the_standard(hook, settings, secret, end):
    settings.WEBHOOK_SECRET, settings.EMAIL_HOST = secret, ""

    by_the_clock()
    assert by_the_clock(timedelta(minutes=16))[-1] == end

    if end == "DONE":
        assert is_signed(hook.asked[-1], by=b"a secret")
    else:
        assert "is not base64" in Job.objects.latest("created_at").error
        assert hook.asked == []


@pytest.mark.usefixtures("shared")
def test_a_webhook_inside_of_the_network_is_never_asked(hook, settings):
    settings.STORAGE_HOSTS, settings.EMAIL_HOST = [], ""
    settings.WEBHOOK_URL = f"{hook.url}/a-secret-path"

    assert by_the_clock() == ["FAILED"]
    settings.WEBHOOK_URL = hook.url.replace("http:", "https:")
    by_the_clock(timedelta(minutes=16))

    first, second = Job.objects.order_by("created_at")
    assert "its address is not https" in first.error
    assert "secret" not in first.error
    assert "it is on this machine or in a private network" in second.error
    assert hook.asked == []


def test_nothing_is_sent_by_the_clock_unless_an_hour_is_set(hook, settings) -> None:
    assert hook.url
    settings.REMINDER_HOUR = -1

    assert by_the_clock() == []
