"""Words that the sentences of commits share."""

import re
from typing import Any, Final

from deltaweb.delta.protocol.schema import PrimitiveType, type_text
from deltaweb.index.history.sentences.commit_facts import Facts, shorten
from deltaweb.words import size_text

MAX_NAMED: Final = 3  # columns or properties that a sentence names
MAX_PREDICATE_LENGTH: Final = 2_000  # much more than a sentence bears
_SAME_COLUMN: Final = re.compile(r"(?:\w+\.)?([^\W\d][\w.]*) = (?:\w+\.)?\1")
_QUOTED_OR_TABLE: Final = re.compile(
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|\bspark_catalog\.\w+\.(?:`[^`]*`|\w+)\.""",
    re.DOTALL,
)
_QUOTED_OR_ID: Final = re.compile(
    r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<=[\w`])#\d+L?\b""", re.DOTALL
)


def where(parameters: Facts) -> str:
    """Say the condition of a commit, with a space before it; nothing without one."""
    predicate = condition(parameters, "predicate")
    return f" where {predicate}" if predicate else ""


def condition(parameters: Facts, *names: str) -> str:
    """Return the first of some parameters as a condition to read; or nothing.

    Spark writes a list of conditions as JSON in a text, with the ids that its planner
    gives to columns; delta-rs writes one condition.
    """
    return parameters.worded(names, _condition)


def _condition(predicate: Any) -> str:  # noqa: ANN401 (any JSON)
    if isinstance(predicate, list):
        predicate = " AND ".join(str(part) for part in predicate[:MAX_NAMED])
    if not isinstance(predicate, str) or not predicate.strip("[]() "):
        return ""
    return without_quotes(shorten(without_table(without_ids(predicate))))


def without_table(predicate: str) -> str:
    """Return a predicate with columns by their own names alone: `id`.

    Spark writes `spark_catalog.delta.`/data/orders`.id` where a table is named by its
    path.
    """
    if "spark_catalog." not in predicate:
        return predicate
    return _QUOTED_OR_TABLE.sub(r"\1", predicate[:MAX_PREDICATE_LENGTH])


def without_ids(predicate: str) -> str:
    """Return a predicate with its columns as people name them: `id`, not `id#12L`.

    What stands in quotes is a value, and stays.
    """
    if "#" not in predicate:
        return predicate
    return _QUOTED_OR_ID.sub(r"\1", predicate[:MAX_PREDICATE_LENGTH])


def without_quotes(predicate: str) -> str:
    """Return a predicate without quotes around names and parentheses around all."""
    text = predicate.replace("`", "").strip('"')
    while text.startswith("(") and _closing(text) == len(text) - 1:
        text = text[1:-1].strip()
    return text


def matched(predicate: str) -> str:
    """Return the column where a condition compares it on both sides, `t.a = s.a`."""
    same = _SAME_COLUMN.fullmatch(predicate)
    return same[1] if same else predicate


def _closing(text: str) -> int:
    """Where the parenthesis closes that `text` starts with; -1 where it does not."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if not depth:
            return position
    return -1


def in_bytes(size_bytes: int) -> str:
    """Say a size in parentheses, with a space before it; nothing for none."""
    return f" ({size_text(size_bytes)})" if size_bytes else ""


def joined(parts: list[str]) -> str:
    """Join parts by commas and a last `and`."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def named(names: list[str]) -> str:
    """Name the first few, and count the others."""
    shown = [shorten(name) for name in names[:MAX_NAMED]]
    if len(names) > MAX_NAMED:
        shown.append(f"{len(names) - MAX_NAMED:,} more")
    return joined(shown)


def column_names(value: Any) -> list[str]:  # noqa: ANN401 (any JSON)
    """Take the columns out of any of the shapes that writers use: `a (bigint)`.

    A type is told where it is a plain one, as SQL spells it.
    """
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = [value]
    if not isinstance(value, list):
        return []
    names = []
    for entry in value:
        column = entry.get("column", entry) if isinstance(entry, dict) else entry
        if isinstance(column, dict) and isinstance(column.get("name"), str):
            type_name = column.get("type")
            if isinstance(type_name, str):
                names.append(
                    f"{column['name']} ({type_text(PrimitiveType(type_name))})"
                )
            else:
                names.append(column["name"])
        elif isinstance(column, str):
            names.append(column)
    return names
