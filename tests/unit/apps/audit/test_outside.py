"""The record is sent to a file or to syslog at least once, and kept as long as set."""

import json
import socket
import struct
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest
from django.db import DatabaseError, connection, transaction

from apps.audit.append_only import create_triggers
from apps.audit.models import AuditCursor, AuditEvent
from apps.audit.outside import SETTLED_AFTER, send_events
from apps.audit.retention import erase_events

pytestmark = [pytest.mark.django_db, pytest.mark.database]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def new_event(number: int, at: datetime = NOW) -> AuditEvent:
    return AuditEvent.objects.create(
        id=number, at=at, kind="CHANGE", action="share.create", actor="ada"
    )


def ids(path: Path) -> list[int]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def test_each_event_is_written_once_to_a_file_of_its_owner(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    new_event(1)
    assert send_events(str(path), now=NOW) == 1
    new_event(2)

    assert send_events(str(path), now=NOW) == 1
    assert send_events(str(path), now=NOW + 2 * SETTLED_AFTER) == 0

    assert ids(path) == [1, 2]
    assert path.stat().st_mode & 0o777 == 0o600
    assert AuditCursor.objects.get().after_id == 2
    assert AuditCursor.objects.get().sent == []


def test_an_event_that_appears_late_is_sent_late(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    new_event(12)
    send_events(str(path), now=NOW)
    new_event(11)

    send_events(str(path), now=NOW + timedelta(seconds=10))

    assert ids(path) == [12, 11]


def test_a_rotated_file_is_made_again(tmp_path: Path) -> None:
    path = tmp_path / "audit.jsonl"
    new_event(1)
    send_events(str(path), now=NOW)
    path.rename(tmp_path / "audit.jsonl.1")
    new_event(2)

    send_events(str(path), now=NOW)

    assert ids(path) == [2]


def test_what_could_not_be_written_is_sent_again(tmp_path: Path) -> None:
    path = tmp_path / "later" / "audit.jsonl"
    new_event(1)
    with pytest.raises(FileNotFoundError), transaction.atomic():
        send_events(str(path), now=NOW)
    path.parent.mkdir()

    assert send_events(str(path), now=NOW) == 1


def test_syslog_gets_a_message_for_each_event() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        new_event(1)

        send_events(f"syslog://127.0.0.1:{server.getsockname()[1]}", now=NOW)

        message = server.recv(65_536).decode()
    assert message.startswith("<110>1 2026-11-30T12:00:00+00:00 ")
    assert json.loads(message[message.index("{") :])["actor"] == "ada"


class Receiver:
    """A syslog server by TCP that keeps what it reads, or resets connections."""

    def __init__(self, *, resets: bool = False) -> None:
        self.read = b""
        self._resets = resets
        self._server = socket.create_server(("127.0.0.1", 0))
        self.place = f"syslog+tcp://127.0.0.1:{self._server.getsockname()[1]}"
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        connection, _ = self._server.accept()
        with connection:
            if self._resets:
                linger = struct.pack("ii", 1, 0)
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                return
            while part := connection.recv(65_536):
                self.read += part

    def close(self) -> None:
        self._thread.join(10)
        self._server.close()


def test_syslog_by_tcp_gets_each_message_with_its_length() -> None:
    receiver = Receiver()
    new_event(1)
    new_event(2)

    assert send_events(receiver.place, now=NOW) == 2
    receiver.close()

    found, rest = [], receiver.read
    while rest:
        length, _, rest = rest.partition(b" ")
        found.append(json.loads(rest[rest.index(b"{") : int(length)])["id"])
        rest = rest[int(length) :]
    assert found == [1, 2]


def test_nothing_is_lost_while_syslog_is_down() -> None:
    resetting = Receiver(resets=True)
    new_event(1)
    with pytest.raises(OSError, match=r"reset|Broken"):
        send_events(resetting.place, now=NOW)
    resetting.close()
    with pytest.raises(ConnectionRefusedError):
        send_events(resetting.place, now=NOW)

    again = Receiver()
    assert AuditCursor.objects.get().sent == []
    assert send_events(again.place, now=NOW) == 1
    again.close()
    assert b'"id": 1' in again.read


def test_a_message_that_no_datagram_holds_is_sent_without_its_detail() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        place = f"syslog://127.0.0.1:{server.getsockname()[1]}"
        AuditEvent.objects.create(
            id=1, at=NOW, kind="CHANGE", action="x", detail={"names": ["n" * 100_000]}
        )

        assert send_events(place, now=NOW) == 1

        message = server.recv(65_536).decode()
    found = json.loads(message[message.index("{") :])
    assert found["is_cut"]
    assert found["detail"] == {}


def test_a_datagram_to_nobody_is_lost_and_holds_nothing_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as closed:
        closed.bind(("127.0.0.1", 0))
        place = f"syslog://127.0.0.1:{closed.getsockname()[1]}"
    new_event(1)

    assert send_events(place, now=NOW) == 1


@pytest.mark.django_db(transaction=True)
def test_no_change_waits_while_syslog_does_not_answer() -> None:
    """The server takes the connection, and reads and closes nothing."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        place = f"syslog+tcp://127.0.0.1:{silent.getsockname()[1]}"
        new_event(1)
        sending = Thread(target=_send_and_close, args=(place,))
        sending.start()
        connection_there, _ = silent.accept()
        with connection_there:
            begun_s = time.monotonic()
            new_event(2)
            took_s = time.monotonic() - begun_s
            is_sending = sending.is_alive()
        sending.join()

    assert is_sending
    assert took_s < 2


def _send_and_close(place: str) -> None:
    with suppress(OSError):  # once the server that reads nothing is gone
        send_events(place, now=NOW)
    connection.close()


def test_old_events_are_erased_and_the_record_stays_append_only() -> None:
    create_triggers(connection)
    new_event(1, NOW - timedelta(days=400))
    new_event(2)

    erased = erase_events(before=NOW - timedelta(days=365), place="")

    assert erased == 1
    assert [one.id for one in AuditEvent.objects.all()] == [2]
    with (
        pytest.raises(DatabaseError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("DELETE FROM audit_auditevent")
    assert AuditEvent.objects.count() == 1


def test_an_event_that_was_not_sent_yet_is_kept(tmp_path: Path) -> None:
    place = str(tmp_path / "audit.jsonl")
    old = NOW - timedelta(days=400)
    new_event(1, old)

    assert erase_events(before=NOW, place=place) == 0
    send_events(place, now=NOW)
    assert erase_events(before=NOW, place=place) == 1
