"""What holds for every kind of event."""

from pathlib import Path

import pytest

from apps.notices import kinds
from apps.notices.events.kind import EventKind, event_kinds

ALL = sorted(event_kinds().values(), key=lambda kind: kind.name)


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.name)
def test_a_kind_is_declared_in_a_module_of_its_name(kind: EventKind) -> None:
    module = kind.name.replace(".", "_")

    assert Path(kinds.__path__[0], f"{module}.py").is_file()
    assert kind.help.startswith("Sent ")
    assert callable(kind.data.sentence)


def test_every_module_has_a_kind() -> None:
    modules = {path.stem for path in Path(kinds.__path__[0]).glob("[a-z]*.py")}

    assert modules == {kind.name.replace(".", "_") for kind in ALL}
