"""The record outside of the database: JSON lines in a file, or messages to syslog.

Each event is written at least once. The numbers of events become visible out of order
on PostgreSQL, because a transaction takes its number before it is committed. So a
cursor holds the numbers that were sent beyond the one up to which all are complete, and
an event that appears late is sent late.

Source: RFC 5424 (the form of a message), RFC 6587, section 3.4.1 (its length over TCP).
"""

import fcntl
import json
import os
import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction
from django.forms.models import model_to_dict

from apps.audit.models import AuditCursor, AuditEvent

SETTLED_AFTER: Final = timedelta(minutes=5)
"""No transaction that records an event takes longer."""
BATCH: Final = 5000
PRIORITY: Final = 13 * 8 + 6  # log audit, informational
PORTS: Final = {"syslog": 514, "syslog+tcp": 601}
TIMEOUT_S: Final = 5.0
MAX_DATAGRAM_BYTES: Final = 60_000
LOCK: Final = "audit.lock"


def send_events(place: str, *, now: datetime) -> int:
    """Write the events that were not written yet, and return how many.

    Args:
        place: A file, or a URL such as `syslog://host:514`.

    Raises:
        OSError: If the place takes nothing. The events are sent again later.
    """
    with _alone() as is_alone:
        if not is_alone:
            return 0  # another worker sends them
        cursor, _ = AuditCursor.objects.get_or_create(name=place[:200])
        rows = AuditEvent.objects.filter(id__gt=cursor.after_id)
        new = rows.exclude(id__in=cursor.sent)
        events = list(new.order_by("id")[:BATCH])
        if events:  # outside of a transaction, which would make others wait
            write(place, [line_of(one) for one in events])
        _note_sent(place, [one.id for one in events], now)
    return len(events)


def _note_sent(place: str, ids: Sequence[int], now: datetime) -> None:
    """Store which events were sent, and the number up to which all were sent."""
    with transaction.atomic():
        cursor = AuditCursor.objects.select_for_update().get(name=place[:200])
        sent = {*cursor.sent, *ids}
        settled = [
            one
            for one in AuditEvent.objects.filter(
                id__gt=cursor.after_id, at__lt=now - SETTLED_AFTER
            )
            .order_by("id")
            .values_list("id", flat=True)[: 2 * BATCH]
            if one in sent
        ]
        cursor.after_id = max(settled, default=cursor.after_id)
        cursor.sent = sorted(one for one in sent if one > cursor.after_id)
        cursor.save()


@contextmanager
def _alone() -> Iterator[bool]:
    """Keep other workers that have this home from sending the same events."""
    with (Path(settings.HOME) / LOCK).open("ab") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True  # until it is closed


def line_of(event: AuditEvent) -> str:
    """Return an event as one line of JSON, without what is empty."""
    values: dict[str, object] = {"id": event.id, **model_to_dict(event)}
    kept = {key: one for key, one in values.items() if one not in (None, "", {})}
    return json.dumps({**kept, "at": event.at.isoformat()}, default=str)


def write(place: str, lines: Sequence[str]) -> None:
    """Write lines to a file or to syslog."""
    url = urlsplit(place)
    if not url.scheme.startswith("syslog"):
        _append(Path(place), lines)
    elif url.hostname is None:
        with closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as local:
            local.connect(url.path or "/dev/log")
            for message in _messages(lines, MAX_DATAGRAM_BYTES):
                local.send(message)
    elif url.scheme == "syslog+tcp":
        port = url.port or PORTS[url.scheme]
        with socket.create_connection((url.hostname, port), TIMEOUT_S) as server:
            for message in _messages(lines):
                server.sendall(f"{len(message)} ".encode() + message)
            _wait_for_end(server)
    else:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as udp:
            for message in _messages(lines, MAX_DATAGRAM_BYTES):
                udp.sendto(message, (url.hostname, url.port or PORTS[url.scheme]))


def _append(path: Path, lines: Sequence[str]) -> None:
    """Append to a file, which is opened each time: a rotated one is made again."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)
        file.flush()
        os.fsync(file.fileno())


def _wait_for_end(server: socket.socket) -> None:
    """Wait until a server closes the connection, because it has read everything.

    A server that stops before that resets the connection, and all is sent again.
    """
    server.shutdown(socket.SHUT_WR)
    with suppress(TimeoutError):  # a server that stays open has read what was sent
        while server.recv(4096):
            pass


def _messages(lines: Sequence[str], most_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the lines as messages.

    Args:
        most_bytes: The size that one may have. A larger one is sent without `detail`,
            which the database has.
    """
    host, process = socket.gethostname(), os.getpid()
    for line in lines:
        values = json.loads(line)
        head = f"<{PRIORITY}>1 {values['at']} {host} deltaweb {process} audit - "
        message = f"{head}{line}".encode()
        if most_bytes is not None and len(message) > most_bytes:
            short = json.dumps({**values, "detail": {}, "is_cut": True})
            message = f"{head}{short}".encode()[:most_bytes]
        yield message
