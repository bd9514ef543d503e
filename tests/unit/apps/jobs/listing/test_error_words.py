from apps.jobs.listing.selectors import without_places
from apps.jobs.visibility import SubjectLink
from tests.support import cases

ORDERS = SubjectLink("sales.orders", "/t/sales/orders/", "/lake/sales/my orders")


@cases(
    "text, expected",
    {
        "the place of the subject": (
            "/lake/sales/my orders cannot be read at version 13: commit 12 is gone.",
            "sales.orders cannot be read at version 13: commit 12 is gone.",
        ),
        "a file of the subject": (
            "/lake/sales/my orders/_delta_log/00000000000000000012.json: no JSON.",
            "00000000000000000012.json: no JSON.",
        ),
        "a neighbour of the subject": (
            "/lake/sales/my orders_2 is not there.",
            "my orders_2 is not there.",
        ),
        "other places": (
            "s3://bucket/t/part-0.parquet is not there, nor /mnt/x/y.crc.",
            "part-0.parquet is not there, nor y.crc.",
        ),
        "what is no place": (
            "3/4 of text/json and/or nothing.",
            "3/4 of text/json and/or nothing.",
        ),
    },
)
def test_files_are_named_without_their_folders(text: str, expected: str) -> None:
    assert without_places(text, ORDERS) == expected


def test_a_job_without_a_subject_has_its_places_cut_as_well() -> None:
    assert without_places("/srv/lake/x is empty.", None) == "x is empty."
