"""Faces of packages: what stands in modules that are imported when it is first named.

A package says so once, and for tools which modules it has:

    if TYPE_CHECKING:
        from deltaweb.writer import append as append
    else:
        __getattr__ = modules_on_demand(__name__)

Who then imports the package, and calls `writer.append.append_rows`, starts without what
appends. A package whose face has classes and functions says where each of them stands
(`names_on_demand`). Source: PEP 562.
"""

from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any


def modules_on_demand(package: str) -> Callable[[str], ModuleType]:
    """Return the `__getattr__` of a package that imports its modules by their names."""

    def load(name: str) -> ModuleType:
        module = f"{package}.{name}"
        if not name.startswith("__"):
            try:
                return import_module(module)
            except ModuleNotFoundError as error:
                if error.name != module:  # what it imports is missing, not itself
                    raise
        raise _none_of(package, name)

    return load


def names_on_demand(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module, from the names it has to their modules."""

    def load(name: str) -> Any:  # noqa: ANN401  # what a module holds
        if name not in places:
            raise _none_of(package, name)
        return getattr(import_module(places[name]), name)

    return load


def _none_of(package: str, name: str) -> AttributeError:
    return AttributeError(f"module {package!r} has no attribute {name!r}")
