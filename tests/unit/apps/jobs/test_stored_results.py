"""Results that jobs of release 0.8.4 left in their rows."""

import json
from pathlib import Path
from typing import Any

import pytest

from apps.jobs import kinds
from apps.pages.page_json import json_of

STORED: dict[str, list[Any]] = json.loads(
    Path(__file__).with_name("stored_results.json").read_text()
)


def test_of_every_operation_are_here() -> None:
    operations = {name for name, kind in kinds.all_kinds().items() if kind.read}

    assert operations <= set(STORED)


@pytest.mark.parametrize("name", STORED)
def test_are_read_and_written_as_they_are(name: str) -> None:
    kind = kinds.all_kinds()[name]

    for stored in STORED[name]:
        assert json.dumps(json_of(kind.read_result(stored))) == json.dumps(stored)
