"""The names of tables: `table` in the namespace `default`, or `namespace.table`."""

import re
from collections.abc import Container
from dataclasses import dataclass

from apps.tables.errors import TableNameError, TableNotRegisteredError
from apps.tables.models import Table

DEFAULT_NAMESPACE = "default"
MAX_PART_LENGTH = 200
MAX_NAME_LENGTH = 2 * MAX_PART_LENGTH + 1
MAX_SIMILAR = 3  # names that a refusal of a name offers
_PART = re.compile(r"[\w-]+")
_FORBIDDEN = re.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class TableName:
    """A table's name in its two parts."""

    namespace: str
    name: str

    def __str__(self) -> str:
        """Write the name as people do: bare in the namespace `default`."""
        if self.namespace == DEFAULT_NAMESPACE:
            return self.name
        return f"{self.namespace}.{self.name}"


def parse_table_name(text: str) -> TableName:
    """Read a table's name."""
    parts = text.strip().split(".")
    if len(parts) > len(("namespace", "table")):
        raise TableNameError(name=text, reason="it has more than one dot")
    for part in parts:
        _check_part(text, part)
    namespace = parts[0] if len(parts) > 1 else DEFAULT_NAMESPACE
    return TableName(namespace, parts[-1])


def name_from_path(parts: tuple[str, ...], *, namespace: str = "") -> TableName:
    """Name a table by its path below a scanned root.

    The last part is the table, those before it joined by `_` the namespace; what a
    name cannot hold becomes `_`. In a namespace that is given, the whole path is the
    table.
    """
    clean = [_FORBIDDEN.sub("_", part) or "_" for part in parts]
    if namespace:
        return TableName(namespace, "_".join(clean)[:MAX_PART_LENGTH])
    namespace = "_".join(clean[:-1])[:MAX_PART_LENGTH] or DEFAULT_NAMESPACE
    return TableName(namespace, clean[-1][:MAX_PART_LENGTH])


def parse_namespace(text: str) -> str:
    """Read the name of a namespace; "" is none."""
    namespace = text.strip()
    if namespace:
        _check_part(namespace, namespace)
    return namespace


def with_suffix(name: TableName, number: int) -> TableName:
    """Append a number to the table's part, within its length."""
    suffix = f"_{number}"
    bare = name.name[: MAX_PART_LENGTH - len(suffix)]
    return TableName(name.namespace, bare + suffix)


def free_name(wanted: TableName, taken: Container[tuple[str, str]]) -> TableName:
    """Return `wanted`, or the first of its numbered variants that is free."""
    name, number = wanted, 1
    while (name.namespace, name.name) in taken:
        number += 1
        name = with_suffix(wanted, number)
    return name


def find_table(name: str) -> Table:
    """Return the table that the command line names."""
    parsed = parse_table_name(name)
    table = Table.objects.filter(namespace=parsed.namespace, name=parsed.name).first()
    if table is None:
        others = Table.objects.filter(name=parsed.name)[:MAX_SIMILAR]
        raise TableNotRegisteredError(
            name=name, similar=[other.full_name for other in others]
        )
    return table


def _check_part(text: str, part: str) -> None:
    if not part:
        raise TableNameError(name=text, reason="a part of it is empty")
    if len(part) > MAX_PART_LENGTH:
        reason = f"a part of it is longer than {MAX_PART_LENGTH} characters"
        raise TableNameError(name=text, reason=reason)
    if not _PART.fullmatch(part):
        character = next(c for c in part if not _PART.fullmatch(c))
        raise TableNameError(name=text, reason=f"it contains {character!r}")
