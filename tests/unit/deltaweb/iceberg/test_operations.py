"""The operation of a snapshot, by what its commit did."""

from typing import NamedTuple

import pytest

from deltaweb.iceberg.operations import operation_of


class Changes(NamedTuple):
    """The file actions of a commit, counted."""

    num_added_files: int
    num_removed_files: int
    data_change: bool = True


@pytest.mark.parametrize(
    ("changes", "before", "after", "expected"),
    [
        (Changes(2, 0), 3, 5, "append"),
        (Changes(2, 0), 0, 2, "append"),
        (Changes(2, 0, data_change=False), 0, 2, "append"),
        (Changes(0, 0, data_change=False), 0, 0, "replace"),
        (Changes(0, 0, data_change=False), 3, 3, "replace"),
        (Changes(1, 3, data_change=False), 3, 1, "replace"),
        (Changes(1, 0, data_change=False), 3, 4, "replace"),
        (Changes(1, 1), 3, 3, "overwrite"),
        (Changes(0, 1), 3, 2, "delete"),
        (Changes(2, 0), 3, 4, "overwrite"),  # one of them is added again
        (Changes(2, 0), None, 5, "overwrite"),
        (Changes(2, 0), 3, None, "overwrite"),
        (Changes(0, 1), None, 5, "overwrite"),
        (Changes(0, 0, data_change=False), None, 5, "overwrite"),
    ],
)
def test_an_operation_is_said_only_of_what_is_known(changes, before, after, expected):
    assert operation_of(changes, before=before, after=after) == expected
