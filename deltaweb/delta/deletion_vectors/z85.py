"""Z85, the base 85 whose characters need no escape in JSON.

Source: ZeroMQ RFC 32, "Z85"; delta_protocol.md, "Deletion Vector Descriptor Schema".
"""

import base64
import string
from typing import Final

from deltaweb.delta.deletion_vectors.errors import MalformedVectorError

CHARACTERS_A_GROUP: Final = 5  # of four bytes
_OURS: Final = (
    string.digits
    + string.ascii_lowercase
    + string.ascii_uppercase
    + ".-:+=^!/*?&<>()[]{}@%$#"
)
_PYTHONS: Final = (
    string.digits
    + string.ascii_uppercase
    + string.ascii_lowercase
    + "!#$%&()*+-;<=>?@^_`{|}~"
)
_TO_PYTHONS: Final = str.maketrans(_OURS, _PYTHONS)
_TO_OURS: Final = str.maketrans(_PYTHONS, _OURS)


def decode_z85(text: str) -> bytes:
    """Return the bytes of a text, four for each five characters."""
    if len(text) % CHARACTERS_A_GROUP:
        raise MalformedVectorError(
            reason=f"its {len(text):,} characters are not groups of five"
        )
    foreign = set(text).difference(_OURS)
    if foreign:
        raise MalformedVectorError(reason=f"{min(foreign)!r} is not a character of Z85")
    try:
        return base64.b85decode(text.translate(_TO_PYTHONS))
    except ValueError:
        raise MalformedVectorError(
            reason="a group of five characters does not fit into four bytes"
        ) from None


def encode_z85(data: bytes) -> str:
    """Return bytes as text; their count is a multiple of four."""
    return base64.b85encode(data).decode().translate(_TO_OURS)
