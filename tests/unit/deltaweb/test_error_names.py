"""Every error of the library is imported from one module, and loaded when it is."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import deltaweb
from deltaweb import errors
from deltaweb.errors import DeltawebError

ROOT = Path(deltaweb.__path__[0])
# Django's: its modules load only where Django is set up.
WIRING = ("management", "serving", "settings", "urls", "celery", "apps")


def _loaded() -> set[type[DeltawebError]]:
    """Load every module of the library that has an error, and return these."""
    for file in ROOT.rglob("*.py"):
        module = file.relative_to(ROOT.parent).with_suffix("")
        if module.parts[1] not in WIRING and "Error(" in file.read_text("utf-8"):
            import_module(".".join(module.parts).removesuffix(".__init__"))
    found, waiting = set(), [DeltawebError]
    while waiting:
        kind = waiting.pop()
        found.add(kind)
        waiting += kind.__subclasses__()
    return {
        kind
        for kind in found
        if kind.__module__.startswith("deltaweb.")
        and kind.__module__.split(".")[1] not in WIRING
        and kind.__name__[0] != "_"
    }


def test_each_error_of_the_library_is_there() -> None:
    known = {kind.__name__: kind for kind in _loaded()}

    assert len(known) > 100
    assert {
        name: kind.__module__
        for name, kind in known.items()
        if getattr(errors, name, None) is not kind
    } == {}
    listed = {name for name in dir(errors) if name.endswith("Error")}
    assert listed == set(known)


def test_they_are_caught_by_the_names_that_are_imported() -> None:
    from deltaweb.errors import LocationNotFoundError
    from deltaweb.table import DeltaTable
    from tests.support.stores.memory import MemoryTableStore

    with pytest.raises(LocationNotFoundError) as caught:
        DeltaTable.from_store(MemoryTableStore()).snapshot()
    assert isinstance(caught.value, DeltawebError)


def test_a_name_that_is_none_is_an_import_error() -> None:
    with pytest.raises(ImportError, match="NoSuchError"):
        exec("from deltaweb.errors import NoSuchError")  # noqa: S102  # as one types it


def test_the_module_loads_none_of_them() -> None:
    code = (
        "import sys, deltaweb.errors; dir(deltaweb.errors);"
        "print(*(name for name in sys.modules if name.startswith('deltaweb.')))"
    )

    found = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout

    assert {*found.split()} == {"deltaweb.errors", "deltaweb.lazy", "deltaweb.words"}
