"""What a client says that it can read, and what an answer says that it is.

The header `delta-sharing-capabilities` is a list of `key=value,value` with `;` between,
in any case. What is unknown or malformed in it is ignored: it tells of what a later
client can do, and asks for nothing.

Source: sharing_wire.md, M6.
"""

from dataclasses import dataclass
from typing import Final

HEADER: Final = "delta-sharing-capabilities"
PARQUET: Final = "parquet"
ANSWERED: Final = "responseformat=parquet"
"""The header's value of every ndjson answer of this server."""

MAX_LENGTH: Final = 8192
_FORMAT_KEY: Final = "responseformat"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a client can read.

    Attributes:
        response_formats: The formats it takes, lower case; none when it does not say,
            which means parquet.
    """

    response_formats: tuple[str, ...] = ()

    @property
    def reads_parquet(self) -> bool:
        """Whether an answer in the parquet format is understood."""
        return not self.response_formats or PARQUET in self.response_formats


def parse_capabilities(header: str) -> Capabilities:
    """Read the header's value, "" where a request has none."""
    formats: list[str] = []
    for part in header[:MAX_LENGTH].split(";"):
        key, _, values = part.partition("=")
        if key.strip().lower() == _FORMAT_KEY:
            formats.extend(value.strip().lower() for value in values.split(","))
    return Capabilities(tuple(dict.fromkeys(text for text in formats if text)))
