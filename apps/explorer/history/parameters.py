"""The parameters of a commit in words: conditions, clauses of a MERGE, nested lists.

Anybody may write a log, so what is not known is shown as it is, as a list of names and
values, and all of it is bounded.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from deltaweb.environment.bounded_json import parse_json
from deltaweb.index.history.sentences.words import without_ids, without_table
from deltaweb.words import cut, length_text, size_text

MAX_TEXT_LENGTH: Final = 2000
MAX_ENTRIES: Final = 100  # of a list or an object
MAX_DEPTH: Final = 4
MAX_JSON_LENGTH: Final = 20_000  # of a text that is shown as what it holds
_CONDITIONS: Final = {
    "predicate": "Condition",
    "mergePredicate": "Matched on",
    "replaceWhere": "Replaced where",
    "updatePredicate": "Updated where",
    "deletePredicate": "Deleted where",
    "insertPredicate": "Inserted where",
}
_CLAUSES: Final = {
    "matchedPredicates": "When matched",
    "notMatchedPredicates": "When not matched",
    "notMatchedBySourcePredicates": "When not matched by the source",
}
_LABELS: Final = {
    "partitionBy": "Partitioned by",
    "clusterBy": "Clustered by",
    "zOrderBy": "Z-ordered by",
    "isManaged": "Managed by the catalog",
    "retentionCheckEnabled": "Retention checked",
    "defaultRetentionMillis": "Retention of the table",
    "specifiedRetentionMillis": "Requested retention",
}
_VALUES: Final = {
    "append": "append",
    "overwrite": "overwrite",
    "errorifexists": "fail if there is a table",
    "ignore": "nothing if there is a table",
    "true": "yes",
    "false": "no",
}
_WORDED: Final = {"mode", "saveMode", "auto"}
QUOTES: Final = frozenset("'\"`")
_SAME_NAME: Final = re.compile(r"\b([^\W\d]\w*)#\d+L? = \1#\d+L?(?!\w)")
_PART: Final = re.compile(
    r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|\(|\)|\b(?:BETWEEN|AND|OR)\b",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter, or a part of one.

    Attributes:
        name: As the writer spells it; "" for an entry of a list.
        text: Its value; "" where it has parts.
        is_condition: Whether the text is a condition, a part a line.
        parts: The entries of a list or an object.
    """

    name: str
    label: str
    text: str = ""
    is_condition: bool = False
    parts: tuple["Parameter", ...] = ()


def commit_parameters(parameters: Mapping[str, Any]) -> list[Parameter]:
    """Return the parameters in words: clauses first, those that say nothing last."""
    made = [_parameter(name, value) for name, value in parameters.items()]
    clauses = list(_CLAUSES)

    def order(one: Parameter) -> tuple[bool, int]:
        known = one.name in _CLAUSES
        place = clauses.index(one.name) if known else len(clauses)
        return not one.text and not one.parts, place

    return sorted(made, key=order)


def parameter_of(name: str, value: object) -> Parameter:
    """Return any JSON under its own name, as a list of names and values."""
    return _nested(name, "", value, depth=1)


def format_predicate(value: object) -> str:
    """Return a predicate as a person writes it: an AND a line, no list around it."""
    conditions = decoded(value)
    texts = conditions if isinstance(conditions, list) else [conditions]
    shown = [value_text(text) for text in texts if text not in (None, "")]
    lines = [part for text in shown for part in _conjuncts(_plain(text))]
    if len(lines) > 1:
        lines = [f"({line})" if _has_or(line) else line for line in lines]
    return "\nAND ".join(lines)


def _plain(predicate: str) -> str:
    """Return a predicate with columns by their names; a merge has two of a name."""
    sides = _SAME_NAME.sub(r"target.\1 = source.\1", predicate)
    return without_table(without_ids(sides))


def decoded(value: object) -> Any:  # noqa: ANN401 (JSON of any shape)
    """Return what a text of JSON holds; any other value as it is."""
    if not isinstance(value, str) or value[:1] not in {"[", "{", '"'}:
        return value
    try:
        return parse_json(value)
    except (ValueError, RecursionError):
        return value


def value_text(value: object) -> str:
    """Return a value as text: lists of texts by commas, other JSON as it is."""
    plain = decoded(value)
    if isinstance(plain, list) and all(isinstance(item, str) for item in plain):
        text = ", ".join(plain)
    elif isinstance(plain, str):
        text = plain
    else:
        text = json.dumps(plain, ensure_ascii=False)
    return cut(text, MAX_TEXT_LENGTH)


def words_of(name: str) -> str:
    """Return a name of camel or snake case in words: `numOutputRows`, `Output rows`."""
    spaced = re.sub(r"_|(?<=[a-z0-9])(?=[A-Z])", " ", name)
    words = re.sub(r"^(?:num|is)\b\s*", "", spaced.lower()) or name
    return words[:1].upper() + words[1:]


def _parameter(name: str, value: object) -> Parameter:
    plain = decoded(value)
    if name in _CONDITIONS:
        return Parameter(
            name=name,
            label=_CONDITIONS[name],
            text=format_predicate(plain),
            is_condition=True,
        )
    if name in _CLAUSES and isinstance(plain, list):
        clauses = tuple(_clause(entry) for entry in plain[:MAX_ENTRIES])
        return Parameter(name=name, label=_CLAUSES[name], parts=clauses)
    label = _LABELS.get(name) or words_of(name)
    unit = _with_unit(name, plain)
    if unit is not None:
        return Parameter(name=name, label=unit[0] or label, text=unit[1])
    return _nested(name, label, plain, depth=1)


def _clause(entry: object) -> Parameter:
    """Return one clause of a MERGE: what it does, and where."""
    if not isinstance(entry, Mapping) or "actionType" not in entry:
        return _nested("", "", entry, depth=1)
    condition = format_predicate(entry.get("predicate"))
    action = value_text(entry["actionType"])
    label = f"{action} where" if condition else action
    return Parameter(name="", label=label, text=condition, is_condition=True)


def _nested(name: str, label: str, value: object, *, depth: int) -> Parameter:
    is_long = isinstance(value, str) and len(value) > MAX_JSON_LENGTH
    plain = value if is_long else decoded(value)
    if isinstance(plain, Mapping) and plain and depth <= MAX_DEPTH:
        parts = _bounded(
            (_nested(key, key, part, depth=depth + 1) for key, part in plain.items()),
            len(plain),
        )
        return Parameter(name=name, label=label, parts=parts)
    if isinstance(plain, list) and _has_nested(plain) and depth <= MAX_DEPTH:
        parts = _bounded(
            (_nested("", "", part, depth=depth + 1) for part in plain), len(plain)
        )
        return Parameter(name=name, label=label, parts=parts)
    return Parameter(name=name, label=label, text=_plain_text(name, plain))


def _bounded(parts: Iterator[Parameter], count: int) -> tuple[Parameter, ...]:
    shown = [part for part, _ in zip(parts, range(MAX_ENTRIES), strict=False)]
    if count > MAX_ENTRIES:
        more = f"and {count - MAX_ENTRIES:,} more"
        shown.append(Parameter(name="", label="", text=more))
    return tuple(shown)


def _has_nested(values: Sequence[object]) -> bool:
    return any(isinstance(value, Mapping | list) for value in values)


def _plain_text(name: str, value: object) -> str:
    if value is None or value in ([], {}):
        return ""
    text = value_text(value)
    is_word = name in _WORDED or text.lower() in {"true", "false"}
    return _VALUES.get(text.lower(), text) if is_word else text


def _with_unit(name: str, value: object) -> tuple[str, str] | None:
    """Return a label without its unit, or "", and a duration or a size in words."""
    text = str(value)
    if not re.fullmatch(r"\d{1,18}", text):
        return None
    number = int(text)
    label = _LABELS.get(name, "")
    if name.endswith(("Millis", "Ms", "_ms")):
        return label or words_of(re.sub(r"(?:Millis|Ms|_ms)$", "", name)), _span(number)
    if name.endswith(("Size", "InBytes", "Bytes", "_size", "_bytes")):
        return label or words_of(name.removesuffix("InBytes")), size_text(number)
    return None


def _span(duration_ms: int) -> str:
    """Return a duration by the largest unit that divides it: `7 days`."""
    seconds, rest_ms = divmod(duration_ms, 1000)
    if seconds and not rest_ms:
        return length_text(seconds)
    return f"{duration_ms:,} ms" if duration_ms else "none"


def _conjuncts(text: str) -> list[str]:
    """Cut a condition into what AND joins, without parentheses around the parts."""
    condition = _without_parentheses(text)
    joints = [match for match in _joints(condition) if match.group().upper() == "AND"]
    if not joints or _has_or(condition):
        return [condition] if condition else []
    starts = [0, *(match.end() for match in joints)]
    ends = [*(match.start() for match in joints), len(condition)]
    return [
        piece
        for start, end in zip(starts, ends, strict=True)
        for piece in _conjuncts(condition[start:end].strip())
    ]


def _has_or(condition: str) -> bool:
    return any(match.group().upper() == "OR" for match in _joints(condition))


def _joints(condition: str) -> Iterator[re.Match[str]]:
    """Yield each AND and OR outside of quotes and parentheses, and of BETWEEN."""
    depth, between = 0, False
    for match in _PART.finditer(condition):
        word = match.group().upper()
        depth += (word == "(") - (word == ")")
        if depth or word in {"(", ")"} or word[0] in QUOTES:
            continue
        if word == "AND" and between:
            between = False
        elif word == "BETWEEN":
            between = True
        else:
            yield match


def _without_parentheses(text: str) -> str:
    """Drop each pair of parentheses that holds the whole text."""
    while text.startswith("(") and text.endswith(")"):
        depth = 0
        for match in _PART.finditer(text):
            depth += (match.group() == "(") - (match.group() == ")")
            if not depth and match.end() < len(text):
                return text
        if depth:
            return text
        text = text[1:-1].strip()
    return text
