"""A lane is drawn by versions in percent; what lies close together is one mark."""

from deltaweb.delta.changes.lanes import Lane, LaneEvent, LaneEventKind
from deltaweb.delta.protocol.schema import PrimitiveType, StructField
from deltaweb.web.explorer.lanes.drawing import Scale, drawn

COLUMN = StructField(name="n", data_type=PrimitiveType("long"))


def lane(*events: tuple[int, LaneEventKind], until: int | None = None) -> Lane:
    path = ("n",)
    told = [
        LaneEvent(version, kind, "int", "bigint", is_own=True, path=path)
        for version, kind in events
    ]
    since = events[0][0] if events and events[0][1] == LaneEventKind.ADDED else 0
    return Lane(path, COLUMN, since, until, told)


def stretches(found: Lane) -> list[tuple[str, float, float]]:
    row = drawn(found, Scale(first=0, last=100), is_tree=True)
    return [(one.kind, one.x, one.end) for one in row.stretches]


def test_a_field_that_nothing_happens_to_is_a_thin_line() -> None:
    assert stretches(lane()) == [("quiet", 0, 100)]


def test_a_comment_leaves_the_line_thin() -> None:
    assert stretches(lane((40, LaneEventKind.COMMENT))) == [("quiet", 0, 100)]


def test_a_change_cuts_the_lane() -> None:
    assert stretches(lane((40, LaneEventKind.WIDENED))) == [
        ("past", 0, 40),
        ("now", 40, 100),
    ]


def test_a_lane_begins_where_the_field_was_added() -> None:
    assert stretches(lane((40, LaneEventKind.ADDED))) == [("now", 40, 100)]


def test_a_field_that_comes_back_has_a_gap() -> None:
    events = [(40, LaneEventKind.DROPPED), (60, LaneEventKind.ADDED_AGAIN)]

    assert stretches(lane(*events)) == [
        ("past", 0, 40),
        ("gap", 40, 60),
        ("now", 60, 100),
    ]


def test_a_dropped_field_ends() -> None:
    assert stretches(lane((40, LaneEventKind.DROPPED), until=40)) == [("past", 0, 40)]


def test_marks_that_lie_close_together_are_one_led_by_what_breaks() -> None:
    found = lane(
        (40, LaneEventKind.RENAMED),
        (41, LaneEventKind.COMMENT),
        (80, LaneEventKind.COMMENT),
    )

    marks = drawn(found, Scale(first=0, last=100), is_tree=True).marks

    assert [(mark.version, mark.count, mark.is_breaking) for mark in marks] == [
        (40, 2, True),
        (80, 1, False),
    ]


def test_a_text_ends_before_the_next_mark() -> None:
    found = lane((40, LaneEventKind.WIDENED), (45, LaneEventKind.COMMENT))

    row = drawn(found, Scale(first=0, last=100), is_tree=True)

    assert [one.text for one in row.stretches] == ["int", ""]


def test_one_version_alone_has_a_place() -> None:
    assert Scale(first=7, last=7).at(7) == 0
