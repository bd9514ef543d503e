"""The requests to object stores below fsspec, and the meaning of their refusals."""

from typing import TYPE_CHECKING

from deltaweb.lazy import modules_on_demand

if TYPE_CHECKING:
    from deltaweb.storage.objects import scan as scan
else:
    __getattr__ = modules_on_demand(__name__)
