import pytest

from apps.notices.events.kind import event_kinds
from apps.notices.kinds.table_version import NEW_VERSION
from tests.unit.apps.notices.events.test_emitting import version

START = "sales.orders has version 3: WRITE, 2 rows added"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, f"{START}."),
        ({"schema_changed": True}, f"{START}, schema changed."),
        (
            {"schema_changed": True, "breaking": True},
            f"{START}, breaking change of the schema.",
        ),
    ],
)
def test_a_new_version_says_what_changed(changes: dict[str, bool], said: str) -> None:
    assert version(3, **changes).sentence("sales.orders") == said


def test_every_kind_is_found() -> None:
    assert event_kinds()["table.version"] is NEW_VERSION
    assert NEW_VERSION.type == "deltaweb.table.version"
