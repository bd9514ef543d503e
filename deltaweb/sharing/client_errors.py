"""An error that a client of shares writes: what it is known by, and what it names."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final
from urllib.parse import unquote

MAX_LENGTH: Final = 100_000  # of a text, in characters; the end tells most
MAX_MENTIONED: Final = 10


class Step(StrEnum):
    """Where between a client and its rows something fails."""

    DNS = "dns"
    TLS = "tls"
    HTTP = "http"
    CLOCK = "clock"
    TOKEN = "token"  # noqa: S105 (a step, and no secret)
    GRANT = "grant"
    FORMAT = "format"
    STORAGE = "storage"
    CLIENT = "client"

    @property
    def label(self) -> str:
        is_short = self in {Step.DNS, Step.TLS, Step.HTTP}
        return self.upper() if is_short else self.capitalize()


@dataclass(frozen=True, slots=True)
class KnownError:
    """An error of clients that is known.

    Attributes:
        is_general: Whether many causes share it: one that tells more goes before it.
    """

    key: str
    step: Step
    clients: str
    phrases: str
    cause: str
    remedy: str
    is_general: bool = False

    def is_in(self, text: str) -> bool:
        return re.search(self.phrases, text, re.IGNORECASE) is not None


def mentioned(text: str) -> tuple[list[tuple[str, str, str]], list[str]]:
    """Return the tables and hosts of its provider that an error of a client names.

    Tables by share, schema and name; hosts in small letters.
    """
    end = text[-MAX_LENGTH:]
    tables = [
        (unquote(share), unquote(schema), unquote(table))
        for share, schema, table in _TABLE.findall(end)
    ]
    hosts = [host.lower() for host in _HOST.findall(end)]
    return _first(tables), _first(hosts)


def _first(found: list) -> list:  # type: ignore[type-arg]  # of whatever it holds
    return list(dict.fromkeys(found))[:MAX_MENTIONED]


_NAME: Final = r"([^/\s?#'\"<>]{1,400})"
_TABLE: Final = re.compile(rf"/shares/{_NAME}/schemas/{_NAME}/tables/{_NAME}")
_HOST: Final = re.compile(
    r"https?://([\w.:\[\]-]{1,255})/(?:[\w./-]{0,200}/)?delta-sharing/"
)
