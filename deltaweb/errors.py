"""The root of every error whose words people read."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from difflib import get_close_matches
from typing import Any, Final, dataclass_transform

MAX_LISTED_COLUMNS: Final = 20
MAX_COMPARED_COLUMNS: Final = 2_000  # beyond, a spelling is not searched for
MAX_NAME_LENGTH: Final = 80
_WORDS: Final = ("reason", "message", "hint")


@dataclass_transform(kw_only_default=True, eq_default=False)
class DeltawebError(Exception):
    """An error of facts, which are its attributes, and of sentences made of them.

    A subclass annotates its facts, as a dataclass does, and writes its words as
    templates that name facts or properties:

        class LogGapError(DeltaError, code="log-gap"):
            root: str
            version: int
            message = "{root}: commit {version} is missing."
            hint = "Restore that commit from a backup."

    Several values are listed with commas, and a time is in ISO form; `{name:.80r}` is
    the repr of the first 80 characters, `{name:q}` that of a shortened name. Words that
    the constructor is given are used as they are, so that no text from outside is ever
    taken for a template.

    Its constructor takes the facts by name; a type checker knows which.

    Attributes:
        code: Stable kebab-case name; logs, API bodies and tests use it.
        message: One sentence: what, and where.
        hint: One sentence: what to do next.
        reason: Half a sentence, where the message has one that callers use, too.
    """

    code: str = "deltaweb-error"
    message: str = ""
    hint: str = ""
    reason: str = ""

    def __init_subclass__(cls, *, code: str = "") -> None:
        super().__init_subclass__()
        cls.code = code or cls.code

    def __init__(self, **facts: object) -> None:
        self.__dict__.update(facts)
        words = _Facts(self)
        for name in _WORDS:
            if not facts.get(name):
                setattr(self, name, getattr(type(self), name).format_map(words))
        super().__init__(f"{self.message} {self.hint}".strip())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(
    kind: type[DeltawebError], args: tuple[Any, ...], facts: dict[str, Any]
) -> DeltawebError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(facts)
    return error


class _Facts:
    """The facts of an error by the names that its templates use."""

    def __init__(self, error: DeltawebError) -> None:
        self._error = error

    def __getitem__(self, name: str) -> "_Fact":
        return _Fact(getattr(self._error, name))


class _Fact:
    """A fact as a template formats it."""

    def __init__(self, value: object) -> None:
        self._value = value

    def __repr__(self) -> str:
        return repr(self._value)

    def __format__(self, spec: str) -> str:
        match self._value:
            case str(text) if spec == "q":
                return repr(shortened_name(text))
            case str(text) if spec.endswith("r"):
                return repr(format(text, spec[:-1]))
            case datetime() as time if not spec:
                return time.isoformat()
            case Iterable() as values if not isinstance(values, str):
                return ", ".join(values)
            case value:
                return format(value, spec)


# === Names in sentences ===


def column_hint(column: str, columns: Sequence[str]) -> str:
    """Say which columns may be meant by one that is not there, and which there are.

    Of many columns the first are listed, and none where a name is much alike.
    """
    if not columns:
        return "It has no columns."
    by_lower_name = {name.lower(): name for name in columns[:MAX_COMPARED_COLUMNS]}
    close = get_close_matches(column[:MAX_NAME_LENGTH].lower(), by_lower_name, n=3)
    meant = " or ".join(repr(shortened_name(by_lower_name[name])) for name in close)
    question = f"Did you mean {meant}?" if close else ""
    more = len(columns) - MAX_LISTED_COLUMNS
    if close and more > 0:
        return question
    rest = f" and {more:,} more" if more > 0 else ""
    listed = ", ".join(map(shortened_name, columns[:MAX_LISTED_COLUMNS]))
    return f"{question} Its columns are: {listed}{rest}.".strip()


def shortened_name(name: str) -> str:
    """Return a name as a sentence can hold it."""
    return name if len(name) <= MAX_NAME_LENGTH else f"{name[: MAX_NAME_LENGTH - 1]}…"
