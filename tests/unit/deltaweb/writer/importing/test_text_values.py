"""Texts become values of a type, or are told to be none."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from deltaweb.delta.protocol.schema import PrimitiveType
from deltaweb.delta.protocol.schema_ddl import parse_columns_ddl
from deltaweb.writer.importing.options import TextForm
from deltaweb.writer.importing.text_values import parse_texts, why_none

USUAL = TextForm()
GERMAN = TextForm(decimal_sign=",", day_order="dmy", time_zone="Europe/Berlin")


def parsed(type_name: str, *texts: str | None, form: TextForm = USUAL) -> list[object]:
    data_type = parse_columns_ddl(f"c {type_name}")[0].data_type
    values, bad, _ = parse_texts(pa.array(texts, pa.string()), data_type, form)
    return [
        "none" if is_bad else value
        for value, is_bad in zip(values.to_pylist(), bad.to_pylist(), strict=True)
    ]


@pytest.mark.parametrize(
    ("type_name", "texts", "values"),
    [
        ("int", ["1", " -7 ", "+3", "", None], [1, -7, 3, None, None]),
        ("int", ["1,5", "1.0", "x", "2147483648"], ["none"] * 4),
        ("tinyint", ["127", "-128", "128"], [127, -128, "none"]),
        ("bigint", ["9223372036854775807", "9223372036854775808"], [2**63 - 1, "none"]),
        ("double", ["1.5", ".5", "-1e3", "+2"], [1.5, 0.5, -1000.0, 2.0]),
        ("double", ["1e999", "1,5", "abc"], ["none"] * 3),
        ("float", ["Infinity", "1e39"], [float("inf"), "none"]),
        ("boolean", ["true", "No", "1", "maybe"], [True, False, True, "none"]),
        ("string", ["", " x "], [None, " x "]),
        ("binary", ["ab"], [b"ab"]),
        (
            "decimal(5,2)",
            ["1", "-1.5", "001.250", ".5", "+999.99", "0", "-0.0"],
            [*map(Decimal, ("1.00", "-1.50", "1.25", "0.50", "999.99", "0", "0"))],
        ),
        ("decimal(5,2)", ["1000", "1.255", ".", "-", "1e2"], ["none"] * 5),
        ("date", ["2026-01-31", "2024-02-29"], [date(2026, 1, 31), date(2024, 2, 29)]),
        ("date", ["2026-02-29", "2026-13-01", "0000-01-01", "soon"], ["none"] * 4),
        (
            "timestamp",
            ["2026-01-31T08:00:00Z", "2026-01-31 08:00:00.5+02:00", "2026-01-31"],
            [
                datetime(2026, 1, 31, 8, tzinfo=UTC),
                datetime(2026, 1, 31, 6, 0, 0, 500_000, UTC),
                datetime(2026, 1, 31, tzinfo=UTC),
            ],
        ),
        ("timestamp", ["2026-01-31 25:00:00", "2026-01-31 08:61"], ["none"] * 2),
        (
            "timestamp_ntz",
            ["2026-01-31 08:00", "2026-01-31 08:00Z"],
            [datetime(2026, 1, 31, 8), "none"],  # noqa: DTZ001  # it has none
        ),
    ],
)
def test_texts_are_values_of_their_type(type_name, texts, values):
    assert parsed(type_name, *texts) == values


def test_texts_are_read_as_a_country_writes_them() -> None:
    assert parsed("decimal(12,2)", "49,90", "1.204,00", "1.5", form=GERMAN) == [
        Decimal("49.90"),
        Decimal("1204.00"),
        "none",
    ]
    assert parsed("double", "1,5", form=GERMAN) == [1.5]
    assert parsed("date", "31.01.2026", "31.11.2026", form=GERMAN) == [
        date(2026, 1, 31),
        "none",
    ]
    assert parsed("timestamp", "31.07.2026 09:14:02", form=GERMAN) == [
        datetime(2026, 7, 31, 7, 14, 2, tzinfo=UTC)
    ]


class TestLocalTimes:
    @pytest.mark.parametrize(
        ("zone", "text", "instant", "moved_s"),
        [
            ("America/New_York", "2024-03-10 01:59:59.5", "06:59:59.500000", 0),
            ("America/New_York", "2024-03-10 02:00", "07:00:00", 3_600),
            ("America/New_York", "2024-03-10 02:30", "07:30:00", 3_600),
            ("America/New_York", "2024-03-10 02:59:59", "07:59:59", 3_600),
            ("America/New_York", "2024-03-10 03:00", "07:00:00", 0),
            ("America/New_York", "2024-03-10 02:30Z", "02:30:00", 0),
            ("America/New_York", "2024-11-03 01:30", "05:30:00", 0),
            ("Australia/Lord_Howe", "2024-10-06 02:10", "15:40:00", 1_800),
            ("Pacific/Apia", "2011-12-30 10:00", "20:00:00", 86_400),
            ("Asia/Kolkata", "2024-03-10 02:30", "21:00:00", 0),
            ("UTC", "2024-03-10 02:30", "02:30:00", 0),
            ("America/New_York", None, None, 0),
        ],
    )
    def test_that_clocks_leave_out_move_forward_by_what_they_leave_out(
        self, zone: str, text: str | None, instant: str | None, moved_s: int
    ) -> None:
        texts = pa.array([text], pa.string())
        form = TextForm(time_zone=zone)

        found = parse_texts(texts, PrimitiveType("timestamp"), form)

        (value,) = found.values.to_pylist()
        assert value is None or value.time().isoformat() == instant
        assert found.moved_us is not None
        assert found.moved_us.tolist() == [moved_s * 1_000_000]

    def test_keep_their_order_and_distance_within_what_is_left_out(self) -> None:
        texts = [f"2024-03-10 02:{minute:02}" for minute in range(60)]

        found = parsed("timestamp", *texts, form=TextForm(time_zone="America/New_York"))

        assert found == [
            datetime(2024, 3, 10, 7, minute, tzinfo=UTC) for minute in range(60)
        ]


def test_another_text_may_stand_for_null() -> None:
    assert parsed("int", "n/a", "", form=TextForm(null_text="n/a")) == [None, "none"]


@pytest.mark.parametrize(
    ("type_name", "text", "reason"),
    [
        ("int", "1,5", "not a whole number"),
        ("int", "99999999999", "outside of what int holds"),
        ("decimal(3,1)", "123.4", "more digits than decimal(3,1) has"),
        ("date", "31.11.2026", "not a day of the calendar"),
        ("boolean", "maybe", "neither true nor false"),
    ],
)
def test_the_reason_says_what_is_wrong(type_name: str, text: str, reason: str) -> None:
    data_type = parse_columns_ddl(f"c {type_name}")[0].data_type

    assert why_none(text, data_type) == reason
