"""Every kind of job: the apps above say in which modules they are.

An app has a file a kind and names them, or their folder, in `AppConfig.ready`:

    kinds.load_from("apps.tables.work")

They are imported when a process first asks for one, since most commands never do.
"""

import pkgutil
import re
from importlib import import_module
from threading import RLock
from typing import TYPE_CHECKING, Final, TypeVar

from django.db.models import Q

if TYPE_CHECKING:  # most commands have no use of it
    from apps.jobs.kind import AnyKind
    from apps.jobs.models import Job

K = TypeVar("K", bound="AnyKind")

DEFAULT_QUEUE = "default"
# As `apps.jobs.kind.Queue` has them, which imports what few processes need.
QUEUES: Final = (DEFAULT_QUEUE, "interactive", "spark")

PAGES: Final = re.compile(r"[._]pages?$")
"""Modules beside kinds that workers have no use of."""

_kinds: dict[str, "AnyKind"] = {}
_to_load: list[str] = []
_lock = RLock()


def load_from(*modules: str) -> None:
    """Say which modules register kinds; of a package, all in it but its pages."""
    _to_load.extend(modules)


def register(kind: K) -> K:
    """Add a kind and return it."""
    _kinds[kind.name] = kind
    return kind


def all_kinds() -> dict[str, "AnyKind"]:
    """Return every kind by its name."""
    with _lock:  # or another thread would see some of them only
        while _to_load:
            _load(_to_load[0])
            del _to_load[0]
    return _kinds


def _kind(name: str) -> "AnyKind | None":
    """Return a kind; who made a job has its kind already, and needs no other."""
    return _kinds.get(name) or all_kinds().get(name)


def do_job(name: str, job_id: str) -> None:
    """Do a job of a kind in this process."""
    all_kinds()[name].work(job_id)


def looks() -> Q:
    """Return the condition of jobs that only fill a page."""
    found = Q(kind__in=[name for name, kind in all_kinds().items() if kind.is_look])
    for name, kind in all_kinds().items():
        if parameter := kind.is_look_unless:
            found |= Q(kind=name, **{f"parameters__{parameter}": None})
    return found


def kind_of(text: str) -> str:
    """Return the name of the kind that a text names, in words or by that name."""
    called = text.casefold()
    found = all_kinds().items()
    return next((n for n, kind in found if kind.words.casefold() == called), text)


def words_of(name: str) -> str:
    """Return what a kind of job does; its name where it is of no app any more."""
    kind = _kind(name)
    return kind.words if kind else name


def is_reserved(name: str) -> bool:
    """Whether only editors and administrators may run jobs of a kind."""
    kind = _kind(name)
    return kind is not None and (kind.is_reserved or kind.is_for_admins)


def names_for_admins() -> list[str]:
    """Return the kinds whose jobs administrators alone see."""
    return [name for name, kind in all_kinds().items() if kind.is_for_admins]


def names_of_own() -> list[str]:
    """Return the kinds whose jobs only their askers and administrators see."""
    return [name for name, kind in all_kinds().items() if kind.is_own]


def queue_of(job: "Job") -> str:
    """Return the queue in which a job waits."""
    kind = _kind(job.kind)
    return kind.lane(job.parameters) if kind else DEFAULT_QUEUE


def is_aside(job: "Job") -> bool:
    """Whether a job is done aside: it asks a server of others."""
    kind = _kind(job.kind)
    return kind is not None and kind.does_aside(job.parameters)


def queues() -> list[str]:
    """Return every queue that jobs wait in, by name."""
    return [*QUEUES]


def result_url(job: "Job") -> str | None:
    """Return the page of a job's result; None before it is done, or without one."""
    kind = _kind(job.kind)
    if kind is None or kind.page is None or job.state != job.State.DONE:
        return None
    return kind.page(job)


def _load(name: str) -> None:
    module = import_module(name)
    for found in pkgutil.iter_modules(getattr(module, "__path__", ()), f"{name}."):
        if not PAGES.search(found.name):
            _load(found.name)
