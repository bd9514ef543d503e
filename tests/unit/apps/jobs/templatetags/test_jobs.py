import pytest

from apps.jobs.templatetags.jobs import duration


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.0, "0 ms"),
        (0.0403, "40 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (3.24, "3.2 s"),
        (42.9, "42 s"),
        (65, "1 min 5 s"),
        (7530, "2 h 5 min"),
    ],
)
def test_a_length_of_time_is_told_in_its_own_unit(seconds: float | None, text: str):
    assert duration(seconds) == text
