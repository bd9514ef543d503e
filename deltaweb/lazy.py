"""Packages whose modules are imported when they are first named.

A package says so once, and for tools which modules it has:

    if TYPE_CHECKING:
        from deltaweb.writer import append as append
    else:
        __getattr__ = modules_on_demand(__name__)

Who then imports the package, and calls `writer.append.append_rows`, starts without what
appends. Source: PEP 562.
"""

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


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
        message = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(message)

    return load
