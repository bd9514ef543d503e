"""The parts of a server, and whether each works.

Only what this process cannot serve without makes it not ready: database, home and
migrations. Other parts are reported: pages work without a broker.
"""

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from apps.operate.loading import load
from apps.pages.registry import Registry
from deltaweb.environment.outages import DATABASE, lost_database, outages

OK: Final = "ok"
OFF: Final = "off"
FAILED: Final = "failed"
KEPT_S: Final = 5.0
CONNECT_TIMEOUT_S: Final = 1.0
PORTS: Final = {"redis": 6379, "rediss": 6379, "amqp": 5672, "amqps": 5671}
FAULTS: Final = (OSError, DatabaseError, InterfaceError)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerPart:
    """A part of a server.

    Attributes:
        is_needed: Whether a process cannot serve without it.
        state: Returns `ok`, `off` if it is not set up, or `failed`. One of `FAULTS`
            means `failed`, too.
    """

    name: str
    is_needed: bool = False
    state: Callable[[], str]


parts: Final[Registry[ServerPart]] = Registry(key=lambda one: one.name)


def state_of(part: ServerPart) -> str:
    """Return the state of a part."""
    try:
        return part.state()
    except FAULTS as error:
        if (lost := lost_database(error)) is not None:
            outages.began(DATABASE, str(lost))
        return FAILED


class PartStates:
    """The states of all parts, which are looked at every few seconds at most.

    Anybody can ask a probe, so many questions make one look.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._looked_s: float | None = None
        self._states: dict[str, str] = {}

    def look(self) -> dict[str, str]:
        """Return the state of each part, by its name."""
        load()
        with self._lock:
            now_s = self._clock()
            if self._looked_s is None or now_s - self._looked_s >= KEPT_S:
                self._states = {one.name: state_of(one) for one in parts}
                self._looked_s = now_s
            return dict(self._states)

    def forget(self) -> None:
        """Look again at the next question."""
        with self._lock:
            self._looked_s = None


states: Final = PartStates()


def is_ready(found: dict[str, str]) -> bool:
    """Return whether a process can serve."""
    return all(found.get(one.name) == OK for one in parts if one.is_needed)


# === The parts that every server has ===


def _database() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return OK


def _home() -> str:
    return OK if os.access(settings.HOME, os.R_OK | os.W_OK | os.X_OK) else FAILED


class _Migrations:
    """Whether all migrations are applied; once they are, they stay so."""

    def __init__(self) -> None:
        self._are_applied = False

    def __call__(self) -> str:
        if not self._are_applied:
            # It loads much that few processes need.
            from django.db.migrations.executor import MigrationExecutor  # noqa: PLC0415

            executor = MigrationExecutor(connection)
            targets = executor.loader.graph.leaf_nodes()
            self._are_applied = not executor.migration_plan(targets)
        return OK if self._are_applied else FAILED


def broker_state() -> str:
    """Return whether the broker takes connections.

    Raises:
        OSError: If it cannot be reached.
    """
    url = urlsplit(settings.BROKER_URL)
    if url.scheme == "filesystem":
        folder = Path(settings.CELERY_BROKER_TRANSPORT_OPTIONS["folder"])
        return OK if os.access(folder, os.W_OK) else FAILED
    return reachable(url.hostname or "localhost", url.port or PORTS[url.scheme])


def _mail() -> str:
    if not settings.EMAIL_HOST:
        return OFF
    return reachable(settings.EMAIL_HOST, settings.EMAIL_PORT)


def reachable(host: str, port: int) -> str:
    """Return `ok` if a port takes a connection within a second.

    Raises:
        OSError: If it does not.
    """
    socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_S).close()
    return OK


parts.register(
    ServerPart(name="database", is_needed=True, state=_database),
    ServerPart(name="home", is_needed=True, state=_home),
    ServerPart(name="migrations", is_needed=True, state=_Migrations()),
    ServerPart(name="broker", state=broker_state),
    ServerPart(name="mail", state=_mail),
)
