"""What a client says that it can read, and what an answer says that it is.

The header `delta-sharing-capabilities` is a list of `key=value,value` with `;` between,
in any case. What is unknown or malformed in it is ignored: it tells of what a later
client can do, and asks for nothing.

Source: delta_sharing_protocol_2026.md, "Delta Sharing Capabilities Header" and "File
ID Hash Header".
"""

from dataclasses import dataclass
from typing import Final

from deltaweb.sharing.errors import ParameterInvalidError
from deltaweb.sharing.wire import delta, parquet
from deltaweb.sharing.wire.lines import SCHEMES

HEADER: Final = "delta-sharing-capabilities"
FILE_ID_HEADER: Final = "fileidhash"
MAX_LENGTH: Final = 8192
_FORMAT_KEY: Final = "responseformat"
_FEATURES_KEY: Final = "readerfeatures"
_END_KEY: Final = "includeendstreamaction"
_LATER_KEY: Final = "asyncquery"
_TRUE: Final = "true"
ANSWERED_LATER: Final = f"{_LATER_KEY}={_TRUE}"
"""The header's value of an answer that says only what to ask for later."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a client can read.

    Attributes:
        response_formats: The formats it takes, lower case; none when it does not say,
            which means parquet.
        reader_features: The features of tables that it reads in the delta format,
            lower case.
        file_id_scheme: How it wants ids of files derived; "" for the format's own way.
        wants_end: Whether it wants to be told that an answer has ended.
        waits: Whether it asks for an answer that is found later.
    """

    response_formats: tuple[str, ...] = ()
    reader_features: frozenset[str] = frozenset()
    file_id_scheme: str = ""
    wants_end: bool = False
    waits: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """What of it an answer depends on, as texts."""
        return (
            ",".join(self.response_formats),
            ",".join(sorted(self.reader_features)),
            self.file_id_scheme,
        )

    @property
    def reads_parquet(self) -> bool:
        """Whether an answer in the parquet format is understood."""
        return not self.response_formats or parquet.NAME in self.response_formats

    @property
    def reads_delta(self) -> bool:
        """Whether an answer in the delta format is understood."""
        return delta.NAME in self.response_formats


def parse_capabilities(header: str, *, file_id_hash: str = "") -> Capabilities:
    """Read the values of both headers, "" where a request has none."""
    scheme = file_id_hash.strip().lower()
    if scheme and scheme not in SCHEMES:
        raise ParameterInvalidError(
            name=FILE_ID_HEADER,
            reason=f"{scheme[:40]!r} is not a way to derive ids of files",
            hint=f"Send {' or '.join(SCHEMES)}, or leave the header out.",
        )
    formats, features = _values(header, _FORMAT_KEY), _values(header, _FEATURES_KEY)
    return Capabilities(
        tuple(dict.fromkeys(formats)),
        frozenset(features),
        scheme,
        wants_end=_TRUE in _values(header, _END_KEY),
        waits=_TRUE in _values(header, _LATER_KEY),
    )


def answered(response_format: str, *, with_end: bool = False) -> str:
    """Return the header's value of an answer.

    Args:
        with_end: Whether its last line says that it has ended, as was asked for.
    """
    value = f"{_FORMAT_KEY}={response_format}"
    return f"{value};{_END_KEY}={_TRUE}" if with_end else value


def _values(header: str, wanted: str) -> list[str]:
    """Return the values of a key, lower case and without empty ones."""
    found: list[str] = []
    for part in header[:MAX_LENGTH].split(";"):
        key, _, values = part.partition("=")
        if key.strip().lower() == wanted:
            found.extend(value.strip().lower() for value in values.split(","))
    return [value for value in found if value]
