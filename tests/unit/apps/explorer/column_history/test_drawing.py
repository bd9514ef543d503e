"""A history is drawn by versions in percent; what lies close together is one mark."""

from apps.explorer.column_history.drawing import Scale, drawn
from deltaweb.delta.changes.column_history import (
    ColumnChange,
    ColumnChangeKind,
    ColumnHistory,
)
from deltaweb.delta.protocol.schema import PrimitiveType, StructField

COLUMN = StructField(name="n", data_type=PrimitiveType("long"))


def history(
    *events: tuple[int, ColumnChangeKind], until: int | None = None
) -> ColumnHistory:
    path = ("n",)
    told = [
        ColumnChange(version, kind, "int", "bigint", is_own=True, path=path)
        for version, kind in events
    ]
    since = events[0][0] if events and events[0][1] == ColumnChangeKind.ADDED else 0
    return ColumnHistory(path, COLUMN, since, until, told)


def stretches(found: ColumnHistory) -> list[tuple[str, float, float]]:
    row = drawn(found, Scale(first=0, last=100), is_tree=True)
    return [(one.kind, one.x, one.end) for one in row.stretches]


def test_a_field_that_nothing_happens_to_is_a_thin_line() -> None:
    assert stretches(history()) == [("quiet", 0, 100)]


def test_a_comment_leaves_the_line_thin() -> None:
    assert stretches(history((40, ColumnChangeKind.COMMENT))) == [("quiet", 0, 100)]


def test_a_change_cuts_the_lane() -> None:
    assert stretches(history((40, ColumnChangeKind.WIDENED))) == [
        ("past", 0, 40),
        ("now", 40, 100),
    ]


def test_a_lane_begins_where_the_field_was_added() -> None:
    assert stretches(history((40, ColumnChangeKind.ADDED))) == [("now", 40, 100)]


def test_a_field_that_comes_back_has_a_gap() -> None:
    events = [(40, ColumnChangeKind.DROPPED), (60, ColumnChangeKind.ADDED_AGAIN)]

    assert stretches(history(*events)) == [
        ("past", 0, 40),
        ("gap", 40, 60),
        ("now", 60, 100),
    ]


def test_a_dropped_field_ends() -> None:
    assert stretches(history((40, ColumnChangeKind.DROPPED), until=40)) == [
        ("past", 0, 40)
    ]


def test_marks_that_lie_close_together_are_one_led_by_what_breaks() -> None:
    found = history(
        (40, ColumnChangeKind.RENAMED),
        (41, ColumnChangeKind.COMMENT),
        (80, ColumnChangeKind.COMMENT),
    )

    marks = drawn(found, Scale(first=0, last=100), is_tree=True).marks

    assert [(mark.version, mark.count, mark.is_breaking) for mark in marks] == [
        (40, 2, True),
        (80, 1, False),
    ]


def test_a_text_ends_before_the_next_mark() -> None:
    found = history((40, ColumnChangeKind.WIDENED), (45, ColumnChangeKind.COMMENT))

    row = drawn(found, Scale(first=0, last=100), is_tree=True)

    assert [one.text for one in row.stretches] == ["int", ""]


def test_one_version_alone_has_a_place() -> None:
    assert Scale(first=7, last=7).at(7) == 0
