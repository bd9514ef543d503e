"""Results that jobs of release 0.8.4 left in their rows."""

import json
from dataclasses import is_dataclass
from pathlib import Path
from typing import Any, get_args

import pytest

from apps.jobs import kinds
from apps.jobs.models import Job
from apps.pages.page_json import json_of
from apps.tables.operations.operation import operations
from apps.tables.operations.stored import Outcome, StoredPreview
from apps.tables.operations.undo.operation import UNDO
from apps.tables.operations.vacuum.operation import VACUUM

STORED: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("stored_results.json").read_text()
)


def test_of_every_kind_are_here() -> None:
    assert set(STORED) == set(kinds.all_kinds())


def test_have_a_declared_dataclass() -> None:
    for kind in kinds.all_kinds().values():
        of = [*get_args(kind.result), kind.result][0]

        assert of is Outcome or is_dataclass(of), kind.name


def test_of_operations_have_dataclasses_of_previews_and_of_results() -> None:
    kinds.all_kinds()

    assert all(
        is_dataclass(one.detail) and is_dataclass(one.result) for one in operations
    )


@pytest.mark.parametrize("name", STORED)
def test_are_read_and_written_as_they_are(name: str) -> None:
    kind = kinds.all_kinds()[name]

    for stored in STORED[name]:
        assert json.dumps(json_of(kind.read_result(stored))) == json.dumps(stored)


def test_of_an_undo_may_lack_what_later_releases_name() -> None:
    stored = next(one for one in STORED["tables.undo"] if "undoes" in one)

    read = UNDO.read({key: one for key, one in stored.items() if key != "restores"})

    assert isinstance(read, StoredPreview)
    assert read.detail.restores is None


def test_of_a_vacuum_may_lack_what_later_releases_count() -> None:
    stored = next(one for one in STORED["tables.vacuum"] if "steps" in one)
    later = {"versions", "holds", "num_held", "held_bytes"}

    read = VACUUM.read({key: one for key, one in stored.items() if key not in later})

    assert isinstance(read, StoredPreview)
    assert read.detail.curve is not None
    assert read.detail.curve.steps
    assert read.detail.curve.versions is None


def test_of_a_profile_may_lack_its_histogram() -> None:
    kind = kinds.all_kinds()["tables.profile_column"]
    stored = next(one for one in STORED["tables.profile_column"] if one["histogram"])
    later = {"histogram", "is_histogram_exact"}

    read = kind.read_result({k: v for k, v in stored.items() if k not in later})

    assert read.num_rows == stored["num_rows"]
    assert read.histogram == ()


def test_with_other_keys_count_as_none() -> None:
    kind = kinds.all_kinds()["tables.diff_rows"]

    assert kind.found(Job(state=Job.State.DONE, result={"inserted": 1})) is None
