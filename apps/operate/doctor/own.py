"""The checks of what every server has, such as settings, home and database."""

import os
import shutil
import smtplib
import socket
import ssl
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db import DatabaseError, InterfaceError, connection
from django.db.migrations.executor import MigrationExecutor

from apps.operate.doctor.checks import (
    FAIL,
    OK,
    WARN,
    Found,
    SetupCheck,
    SetupOptions,
    setup_checks,
)
from apps.operate.probes.parts import broker_state
from apps.operate.switches.state import SWITCHES, states
from deltaweb.environment.home import open_mode
from deltaweb.environment.production import MIN_KEY_LENGTH
from deltaweb.environment.variables import unknown_variables

GIB: Final = 1 << 30
LITTLE_BYTES: Final = GIB
NO_BYTES: Final = 100 << 20
SKEW_WARN_S: Final = 2.0
SKEW_FAIL_S: Final = 60.0
TIMEOUT_S: Final = 10.0
LOOPBACK: Final = frozenset({"127.0.0.1", "localhost", "::1"})


def look_at_settings(_: SetupOptions) -> Iterator[Found]:
    """Look for misspelt variables and for settings that are weak."""
    for one in unknown_variables(os.environ):
        meant = f"Did you mean {one.nearest}?" if one.nearest else "Remove it."
        yield WARN, f"No setting reads the variable {one.name}.", meant
    if settings.DEBUG:
        says = "DELTAWEB_DEBUG is true: error pages show code and settings."
        yield FAIL if settings.PRODUCTION else WARN, says, "Unset it."
    if len(settings.SECRET_KEY) < MIN_KEY_LENGTH:
        says = f"The secret key has less than {MIN_KEY_LENGTH} characters."
        yield FAIL, says, "Set DELTAWEB_SECRET_KEY to a long random text."
    if "*" in settings.ALLOWED_HOSTS:
        says = "DELTAWEB_ALLOWED_HOSTS has *, which is every name."
        yield WARN, says, "Name the hosts that people open."
    host = urlsplit(settings.PUBLIC_URL).hostname
    if not settings.PRODUCTION and host not in LOOPBACK:
        says = f"Others open {settings.PUBLIC_URL}, but this is not production mode."
        yield WARN, says, "Set DELTAWEB_PRODUCTION=true, which refuses weak settings."
    mode = "production" if settings.PRODUCTION else "embedded"
    yield OK, f"The mode is {mode}, and the public URL {settings.PUBLIC_URL}.", ""


def look_at_home(_: SetupOptions) -> Iterator[Found]:
    """Look at the home folder: whether it can be written, its mode, and its disk."""
    home = settings.HOME
    if not os.access(home, os.R_OK | os.W_OK | os.X_OK):
        yield FAIL, f"{home} cannot be written.", "Give it to the user of deltaweb."
        return
    if mode := open_mode(home):
        says = f"{home} is open to every user of this machine (mode {mode:04o})."
        yield WARN, says, f"chmod o= {home}"
    before = datetime.now(UTC)
    with NamedTemporaryFile(dir=home, prefix="clock-") as probe:
        made_s = Path(probe.name).stat().st_mtime
    theirs = datetime.fromtimestamp(made_s, UTC)
    yield skew("the file system of the home", theirs, before, datetime.now(UTC))
    free = shutil.disk_usage(home).free
    says = f"{home} can be written, and {free / GIB:.1f} GiB are free."
    state = FAIL if free < NO_BYTES else WARN if free < LITTLE_BYTES else OK
    yield state, says, "" if state == OK else "Free some space."


def look_at_retention(_: SetupOptions) -> Iterator[Found]:
    """Name for how long things are kept."""
    kept = (
        ("jobs", settings.JOB_DAYS),
        ("events", settings.EVENT_DAYS),
        ("the audit record", settings.AUDIT_DAYS),
        ("archived commits", settings.ARCHIVE_DAYS),
    )
    each = [
        f"{what} {f'for {days:,} days' if days else 'for ever'}" for what, days in kept
    ]
    yield OK, f"Kept: {', '.join(each)}.", ""


def look_at_database(_: SetupOptions) -> Iterator[Found]:
    """Check whether the database answers, has all migrations, and has the same time."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            if connection.vendor == "postgresql":
                before = datetime.now(UTC)
                cursor.execute("SELECT clock_timestamp()")
                (theirs,) = cursor.fetchone() or (before,)
                yield skew("the database", theirs, before, datetime.now(UTC))
    except (DatabaseError, InterfaceError) as error:
        reason = str(error).partition("\n")[0]
        says = f"The database does not answer: {reason}"
        yield FAIL, says, "See DELTAWEB_DATABASE_URL."
        return
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        says = f"{len(plan)} migrations are missing."
        yield FAIL, says, "Run deltaweb migrate."
    else:
        yield OK, f"{connection.display_name} answers, with all migrations.", ""


def skew(what: str, theirs: datetime, before: datetime, after: datetime) -> Found:
    """Return how far another clock is off, by its time between two of ours."""
    off_s = max((before - theirs).total_seconds(), (theirs - after).total_seconds(), 0)
    says = f"The clock of {what} differs from ours by {off_s:.1f} s."
    if off_s < SKEW_WARN_S:
        return OK, f"The clock of {what} agrees with ours.", ""
    todo = "Set both by NTP: leases, tokens and signed URLs have short lifetimes."
    return FAIL if off_s >= SKEW_FAIL_S else WARN, says, todo


def look_at_switches(_: SetupOptions) -> Iterator[Found]:
    """Name what an administrator switched off."""
    states.forget()
    for name, sentence in states.off().items():
        says = f"{SWITCHES[name].label} is switched off: {sentence}"
        yield WARN, says, f"deltaweb switch on {name}"


def look_at_broker(_: SetupOptions) -> Iterator[Found]:
    """Check whether the broker takes connections."""
    scheme = urlsplit(settings.BROKER_URL).scheme
    try:
        state = broker_state()
    except OSError as error:
        state, reason = FAIL, error.strerror or str(error)
    else:
        reason = "its folder cannot be written"
    if state == OK:
        yield OK, f"The broker ({scheme}) takes connections.", ""
        return
    says = f"The broker ({scheme}) cannot be reached: {reason}."
    yield FAIL, says, "See DELTAWEB_BROKER_URL. Pages work; jobs wait."


def look_at_mail(options: SetupOptions) -> Iterator[Found]:
    """Connect to the mail relay, and send a mail only if that was asked for."""
    if not settings.EMAIL_HOST:
        yield OK, "No mail relay is set: no mail is sent.", ""
        return
    place = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    try:
        relay = get_connection("django.core.mail.backends.smtp.EmailBackend")
        relay.open()
        if options.mail_to:
            subject, text = (
                "A test of deltaweb",
                "This mail was sent by deltaweb doctor.",
            )
            sender = settings.PROVIDER_CONTACT or None
            EmailMessage(
                subject, text, sender, [options.mail_to], connection=relay
            ).send()
        relay.close()
    except (OSError, smtplib.SMTPException) as error:
        says = f"The mail relay {place} refuses: {str(error)[:200]}"
        yield FAIL, says, "See DELTAWEB_SMTP_HOST."
        return
    sent = f" A mail was sent to {options.mail_to}." if options.mail_to else ""
    yield OK, f"The mail relay {place} takes connections.{sent}", ""


def look_at_proxy(options: SetupOptions) -> Iterator[Found]:
    """Request the public address as users do: TLS, host name, headers, clock."""
    if not options.url:
        return
    url = urlsplit(options.url)
    path = f"{url.path.rstrip('/')}/sign-in/"
    before = datetime.now(UTC)
    try:
        answer = get_once(url.scheme, url.netloc, path)
    except ssl.SSLError as error:
        says = f"{options.url} has no valid certificate: {error.reason}."
        yield FAIL, says, "Renew it, or send the whole chain of certificates."
        return
    except (OSError, HTTPException, ValueError) as error:
        yield FAIL, f"{options.url} does not answer: {error}.", "See the proxy's log."
        return
    yield from clock_of("the proxy", answer, before)
    yield _of_answer(options.url, answer)
    if url.scheme == "https" and not settings.TRUSTED_PROXIES:
        says = "No proxy is trusted: all users have its address, and share its limits."
        yield WARN, says, "Set DELTAWEB_TRUSTED_PROXIES to the address of the proxy."


def _of_answer(url: str, answer: HTTPResponse) -> Found:
    place = answer.headers.get("Location", "")
    if answer.status == HTTPStatus.OK and answer.headers.get("X-Request-Id"):
        return OK, f"{url} answers.", ""
    if place.startswith(url):
        says = f"{url} redirects to itself."
        todo = "Let the proxy send X-Forwarded-Proto: https."
        return FAIL, says, todo
    if answer.status == HTTPStatus.BAD_REQUEST:
        says = f"{url} answers that the host name is unknown."
        todo = "Add it to DELTAWEB_ALLOWED_HOSTS, and let the proxy pass on Host."
        return FAIL, says, todo
    says = f"{url} answers {answer.status}, and not as deltaweb does."
    return FAIL, says, "Check whether the proxy leads to deltaweb."


def clock_of(what: str, answer: HTTPResponse, before: datetime) -> Iterator[Found]:
    """Compare our clock with the `Date` header of a server, which has whole seconds.

    Args:
        before: Our time before the request.
    """
    with suppress(ValueError):  # without a valid date
        theirs = parsedate_to_datetime(answer.headers.get("Date", ""))
        theirs = theirs if theirs.tzinfo else theirs.replace(tzinfo=UTC)
        yield skew(what, theirs, before.replace(microsecond=0), datetime.now(UTC))


def get_once(scheme: str, netloc: str, path: str) -> HTTPResponse:
    """Return the answer of a server, which may be a redirect or a refusal."""
    kind = HTTPSConnection if scheme == "https" else HTTPConnection
    server = kind(netloc, timeout=TIMEOUT_S)
    try:
        server.request("GET", path)
        answer = server.getresponse()
        answer.read()
    finally:
        server.close()
    return answer


def look_at_host(_: SetupOptions) -> Iterator[Found]:
    """Name the machine, for reports of several."""
    yield OK, f"This is {socket.gethostname()}, deltaweb {settings.VERSION}.", ""


setup_checks.register(
    SetupCheck(name="host", look=look_at_host),
    SetupCheck(name="settings", look=look_at_settings),
    SetupCheck(name="home", look=look_at_home),
    SetupCheck(name="retention", look=look_at_retention),
    SetupCheck(name="database", look=look_at_database),
    SetupCheck(name="switches", look=look_at_switches),
    SetupCheck(name="broker", look=look_at_broker),
    SetupCheck(name="mail", look=look_at_mail),
    SetupCheck(name="proxy", look=look_at_proxy),
)
