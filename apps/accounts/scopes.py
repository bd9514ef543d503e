"""Which scope a key needs for what an app changes: apps say it when they are ready."""

from dataclasses import dataclass

from deltaweb.web.accounts.models import Scope
from deltaweb.web.pages.registry import Registry


@dataclass(frozen=True, slots=True)
class AppScope:
    """The scope that a key needs for what an app changes, where it is not `write`."""

    app_name: str
    scope: Scope


app_scopes: Registry[AppScope] = Registry(key=lambda one: one.app_name)
