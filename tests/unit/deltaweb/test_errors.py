import pickle
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from deltaweb.errors import DeltawebError


class BrokenError(DeltawebError, code="broken"):
    name: str
    parts: Sequence[str] = ()
    at: datetime = datetime(2026, 1, 31, tzinfo=UTC)
    reason: str = "{_count} parts are broken"
    message = "{name!r} ({name:.3r}, {name:q}) broke at {at}, {at:%Y}: {reason}."
    hint = "Mend {parts}."

    @property
    def _count(self) -> int:
        return len(self.parts)


def test_an_error_writes_its_sentence_of_its_facts() -> None:
    error = BrokenError(name="engine", parts=["a", "b"])

    assert error.message == (
        "'engine' ('eng', 'engine') broke at 2026-01-31T00:00:00+00:00, 2026: "
        "2 parts are broken."
    )
    assert error.hint == "Mend a, b."
    assert error.reason == "2 parts are broken"
    assert (error.code, error.name) == ("broken", "engine")
    assert str(error) == f"{error.message} {error.hint}"


@pytest.mark.parametrize("text", ["{name}", "{0}", "{", "}", "{_count.__class__}"])
def test_no_text_from_outside_is_taken_for_a_template(text: str) -> None:
    error = BrokenError(name=text, parts=[text], reason=text)

    assert repr(text) in error.message
    assert error.message.endswith(f": {text}.")
    assert error.hint == f"Mend {text}."
    assert DeltawebError(message=text, hint=text).message == text


def test_an_error_crosses_processes_whole() -> None:
    error = BrokenError(name="engine", parts=["a"])
    error.__cause__ = None

    copy = pickle.loads(pickle.dumps(error))  # noqa: S301

    assert type(copy) is BrokenError
    assert vars(copy) == vars(error)
    assert str(copy) == str(error)
