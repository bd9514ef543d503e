"""Looks at a Parquet file that no table has: at any place that a user may register."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, TypeVar
from urllib.parse import quote, urlencode

from django.urls import reverse

from apps.accounts.models import User
from apps.jobs import kinds
from apps.jobs.kind import JobKind, hashed_key, to_json
from apps.jobs.models import Job
from apps.jobs.results import job_table
from apps.jobs.running.tracking import TrackedJob
from apps.jobs.services import enqueue
from apps.tables.models.rights import VIEW
from apps.tables.storage.connections import options_for
from apps.tables.storage.locations import check_allowed, parse_location
from apps.tables.storage.roots import check_usable, hidden_places, roots_for
from apps.tables.work.file_look import FORM
from apps.tables.work.inspect_file import keep_inside
from apps.tables.work.preview_file import FirstRowsRead, keep_first_rows
from deltaweb.delta.errors import DataFileMissingError, LocationNotFoundError
from deltaweb.delta.scan.data_file import reading
from deltaweb.parquet.errors import FileNotParquetError, ParquetError
from deltaweb.parquet.inspection.facts import FileFacts
from deltaweb.parquet.tail import RangeSource, open_source
from deltaweb.storage.place import open_store

R = TypeVar("R")

SHOWN_LENGTH: Final = 120


@dataclass(frozen=True, slots=True)
class LookedAtPlace:
    """Which file is looked at: a path, or a URL of an object store."""

    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceLook(JobKind[LookedAtPlace, R]):
    """A kind of job that fills the page of a file that no table has.

    Attributes:
        verb: What such a job is called in lists, before the file's place.
    """

    verb: str
    is_look: bool = True
    is_reserved: bool = True
    is_own: bool = True

    def newest(self, location: str, user: User) -> Job | None:
        """Return the newest job that this user asked for; None without one.

        A result counts only as long as the user may see the tables of the place.
        """
        key = self._key(location, user)
        jobs = Job.objects.filter(kind=self.name, key=key)
        if hidden_places(user, VIEW).hides(location):
            jobs = jobs.exclude(state=Job.State.DONE)
        return jobs.defer("log", "error_detail").order_by("-created_at").first()

    def request(self, text: str, user: User, *, now: datetime, again: bool) -> Job:
        """Queue the work, or return the job that does it or has done it.

        Args:
            user: Who asks; another user's result is never shown.
            again: Whether a finished look counts no more: the file may be another.
        """
        location = allowed_location(text, user)
        job = self.newest(location, user)
        is_over = job is not None and not job.is_active
        is_lost = (
            job is not None and job.state == Job.State.DONE and job_table(job) is None
        )
        if job is not None and not (is_over and again) and not is_lost:
            return job
        if job is not None:
            Job.objects.filter(id=job.id).update(key="")
        return enqueue(
            kind=self.name,
            title=f"{self.verb} {location[-SHOWN_LENGTH:]}",
            parameters=to_json(LookedAtPlace(location)),
            key=self._key(location, user),
            requested_by=user,
            now=now,
        )

    def _key(self, location: str, user: User) -> str:
        return hashed_key(self.name, FORM, str(user.pk), location)


def allowed_location(text: str, user: User | None) -> str:
    """Return the one spelling of a place that a user may look at.

    The job finds nothing at a place of a table that the user may not see.
    """
    location = parse_location(text)
    check_allowed(location, roots=roots_for(user))
    return location


@contextmanager
def _opened(job: TrackedJob, asked: LookedAtPlace) -> Iterator[RangeSource]:
    """Open the file that a job looks at, if who asked for it still may."""
    user = Job.objects.get(id=job.id).requested_by
    location = allowed_location(asked.location, user)
    check_usable(location, user)
    folder, _, name = location.rpartition("/")
    if not name:
        raise FileNotParquetError(reason="it is a folder")
    found: ParquetError | None = None
    with reading(location):
        store = open_store(folder or "/", options_for(location))
        try:
            with (
                store.open_data_file(quote(name)) as file,
                open_source(file) as source,
            ):
                yield source
        except ParquetError as error:  # its own words say more than those of rows
            found = error
        except DataFileMissingError:
            raise LocationNotFoundError(location=location) from None
    if found is not None:
        raise found


def _looking(
    step: str, keep: Callable[[TrackedJob, RangeSource], R]
) -> Callable[[TrackedJob, LookedAtPlace], R]:
    def look(job: TrackedJob, asked: LookedAtPlace) -> R:
        job.step(step)
        with _opened(job, asked) as source:
            return keep(job, source)

    return look


def _page(job: Job) -> str:
    query = urlencode({"location": job.parameters["location"]})
    return f"{reverse('explorer:place-detail')}?{query}"


INSPECT_PLACE: Final = kinds.register(
    PlaceLook(
        name="tables.inspect_place",
        words="Inspect a Parquet file of no table",
        verb="Inspect",
        parameters=LookedAtPlace,
        result=FileFacts,
        is_apart=True,
        run=_looking("Reading the footer", keep_inside),
        page=_page,
    )
)
PREVIEW_PLACE: Final = kinds.register(
    PlaceLook(
        name="tables.preview_place",
        words="Read the first rows of a file of no table",
        verb="First rows of",
        parameters=LookedAtPlace,
        result=FirstRowsRead,
        is_apart=True,
        run=_looking("Reading the first rows", keep_first_rows),
        page=_page,
    )
)
