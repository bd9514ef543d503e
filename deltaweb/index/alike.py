"""Objects of a log that are the same, told apart fast: writers repeat themselves."""

import marshal
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

_WITHOUT_REFERENCES: Final = 2  # of marshal's versions; equal values, equal bytes


class Alike(NamedTuple):
    """Some JSON objects, each distinct one once.

    Attributes:
        distinct: One of each kind, in the order in which they came.
        kinds: For each object, the position of its kind.
    """

    distinct: Sequence[Mapping[str, Any]]
    kinds: Sequence[int]


def group_alike(objects: Sequence[Mapping[str, Any]]) -> Alike:
    """Find out which objects are the same to the last type and the order of keys.

    Args:
        objects: As `json.loads` returns them. `1`, `1.0` and `true` are equal in
            Python and not here.
    """
    written: Sequence[Any] = objects
    try:
        keys = [marshal.dumps(one, _WITHOUT_REFERENCES) for one in written]
    except ValueError:  # one nests too deeply
        return Alike(objects, range(len(objects)))
    places: dict[bytes, int] = {}
    kinds = [places.setdefault(key, len(places)) for key in keys]
    found = dict(zip(reversed(kinds), reversed(objects), strict=True))
    return Alike([found[kind] for kind in range(len(places))], kinds)
