"""Here or on Spark: by the size of the work, by what is evaluated, or as asked."""

from collections.abc import Callable

import pytest

from deltaweb.expressions.errors import ExpressionError, ExpressionMistakenError
from deltaweb.web.jobs.running.reports import Reports
from deltaweb.web.tables.index import engine
from deltaweb.web.tables.index.engine import Engine, choose
from tests.support import cases

MOST = 10


@pytest.fixture(autouse=True)
def _spark(monkeypatch: pytest.MonkeyPatch) -> None:
    """A session that is there at once, and is nothing."""
    monkeypatch.setattr(engine, "with_spark", lambda _step, work: work(None))


def chosen(size: Callable[[], int | None], wanted: Engine | None = None) -> str:
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
        "small": (lambda: MOST, None, "in process"),
        "large": (lambda: MOST + 1, None, "Spark"),
        "not known": (lambda: None, None, "Spark"),
        "not evaluated here": (not_evaluated, None, "Spark"),
        "asked for here": (lambda: MOST + 1, Engine.HERE, "in process"),
        "asked for on Spark": (lambda: 0, Engine.SPARK, "Spark"),
    },
)
def test_work_is_done_where_it_fits(size, wanted, expected):
    assert chosen(size, wanted) == expected


def test_spark_is_not_started_for_a_mistake() -> None:
    with pytest.raises(ExpressionMistakenError):
        chosen(mistaken)
