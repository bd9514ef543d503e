"""Here or on Spark: by the size of the work, by what is evaluated, or as asked."""

from collections.abc import Callable

import pytest

from apps.jobs.running.reports import Reports
from apps.tables.index import engine
from apps.tables.index.engine import Engine, choose, evaluated_here
from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from tests.support import cases

MOST = 10


@pytest.fixture(autouse=True)
def _spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that is there at once, and is nothing."""
    monkeypatch.setattr(engine, "with_spark", lambda _step, work: work(None))


def chosen(size: int | None, wanted: Engine | None = None) -> str:
    said, by = choose(
        size,
        MOST,
        here=lambda: "in process",
        on_spark=lambda _spark: "Spark",
        reports=Reports(),
        wanted=wanted,
    )
    assert by.words == said
    return said


def not_evaluated() -> int:
    raise ExpressionError(sql="hash(n)", reason="it is not evaluated here")


def mistaken() -> int:
    raise ExpressionMistakenError(sql="n >", reason="it ends too soon")


@cases(
    "size, wanted, expected",
    {
        "small": (MOST, None, "in process"),
        "large": (MOST + 1, None, "Spark"),
        "not known": (None, None, "Spark"),
        "asked for here": (MOST + 1, Engine.HERE, "in process"),
        "asked for on Spark": (0, Engine.SPARK, "Spark"),
    },
)
def test_work_is_done_where_it_fits(size, wanted, expected):
    assert chosen(size, wanted) == expected


@cases(
    "evaluate, wanted, expected",
    {
        "here": (lambda: MOST, None, (MOST, "")),
        "not here": (not_evaluated, None, (None, "it is not evaluated here")),
        "asked for on Spark": (lambda: MOST, Engine.SPARK, (None, "")),
        "asked for here": (lambda: MOST, Engine.HERE, (MOST, "")),
    },
)
def test_spark_evaluates_what_this_process_does_not(evaluate, wanted, expected):
    assert evaluated_here(evaluate, wanted) == expected


class Steps(Reports):
    """Keeps the names of steps."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def step(
        self,
        name: str,
        *,
        done: int = 0,  # noqa: ARG002 (as Reports has it)
        total: int | None = None,  # noqa: ARG002 (as above)
        unit: str = "",  # noqa: ARG002 (as above)
    ) -> None:
        self.names.append(name)


@cases(
    "why, said",
    {
        "of a type": ("it is not evaluated here", "Start: it is not evaluated here"),
        "of its size": ("", "Start"),
    },
)
def test_the_reason_is_said_before_spark_starts(
    monkeypatch: pytest.MonkeyPatch, why: str, said: str
) -> None:
    reports = Steps()

    def start(step: Callable[[str], None], work: Callable[[None], str]) -> str:
        step("Start")
        assert reports.names == [said]
        return work(None)

    monkeypatch.setattr(engine, "with_spark", start)

    found = choose(
        None,
        MOST,
        here=lambda: "",
        on_spark=lambda _: "done",
        reports=reports,
        why=why,
    )
    assert found == ("done", Engine.SPARK)


def test_a_mistake_is_left_to_nobody() -> None:
    with pytest.raises(ExpressionMistakenError):
        evaluated_here(mistaken, None)
    with pytest.raises(ExpressionError):
        evaluated_here(not_evaluated, Engine.HERE)
