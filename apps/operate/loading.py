"""The modules by which apps add gauges, parts and checks, for the few who need them.

    loading.modules.register("apps.jobs.listing.metrics")

Most processes never import them.
"""

from importlib import import_module
from typing import Final

from apps.pages.registry import Registry

modules: Final[Registry[str]] = Registry()


def load() -> None:
    """Import all modules; the second call does nothing."""
    for name in modules:
        import_module(name)
