import pytest

from deltaweb.web.jobs.listing.error_words import without_places
from deltaweb.web.jobs.visibility import SubjectLink

ORDERS = SubjectLink("sales.orders", "/t/sales/orders/", "/lake/sales/my orders")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "/lake/sales/my orders cannot be read at version 13: commit 12 is gone.",
            "sales.orders cannot be read at version 13: commit 12 is gone.",
            id="the place of the subject",
        ),
        pytest.param(
            "/lake/sales/my orders/_delta_log/00000000000000000012.json: no JSON.",
            "00000000000000000012.json: no JSON.",
            id="a file of the subject",
        ),
        pytest.param(
            "/lake/sales/my orders_2 is not there.",
            "my orders_2 is not there.",
            id="a neighbour of the subject",
        ),
        pytest.param(
            "s3://bucket/t/part-0.parquet is not there, nor /mnt/x/y.crc.",
            "part-0.parquet is not there, nor y.crc.",
            id="other places",
        ),
        pytest.param(
            "3/4 of text/json and/or nothing.",
            "3/4 of text/json and/or nothing.",
            id="what is no place",
        ),
    ],
)
def test_files_are_named_without_their_folders(text: str, expected: str) -> None:
    assert without_places(text, ORDERS) == expected


def test_a_job_without_a_subject_has_its_places_cut_as_well() -> None:
    assert without_places("/srv/lake/x is empty.", None) == "x is empty."
