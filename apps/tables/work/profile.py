"""Profiles of columns: in process, or by Spark where they are long."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Final

import pyarrow.compute as pc
from django.conf import settings

from apps.jobs import kinds
from apps.jobs.kind import Queue
from apps.jobs.models import Job
from apps.jobs.running.tracking import TrackedJob
from apps.tables.index.engine import choose
from apps.tables.models import Table
from apps.tables.models.subjects import Page, on_table, table_of
from apps.tables.storage.opening import open_table, roots_of_server, table_place
from apps.tables.versions.column_address import column_address
from apps.tables.work.table_look import TableLook
from deltaweb import spark
from deltaweb.delta.errors import DeltaError
from deltaweb.delta.profile import in_process
from deltaweb.delta.profile.column import ProfiledColumn
from deltaweb.delta.profile.described import ColumnProfile
from deltaweb.delta.protocol.column_path import ColumnPath
from deltaweb.delta.protocol.schema import StructType, leaf_fields
from deltaweb.delta.snapshot import Snapshot
from deltaweb.storage.place import TablePlace
from deltaweb.table import DeltaTable

if TYPE_CHECKING:
    from apps.tables.index.spark_session import SparkSession

# What is described here: its values are held at once, texts of 256 characters at most.
FILES_HERE: Final = 1_000
MAX_COLUMNS: Final = 200  # of one job
ROWS_HERE: Final = 2_000_000
BYTES_HERE: Final = 256 << 20  # of whole data files, of which one column is read


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """Which column is described."""

    version: int
    column: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileAll:
    """Of which version every column is described."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TableProfile:
    """The profiles of the columns of a version.

    Attributes:
        columns: Those whose values can be read, `MAX_COLUMNS` at most; the parts of a
            struct in place of it.
        num_left_out: The number of the other columns.
    """

    version: int
    columns: tuple[ColumnProfile, ...]
    num_left_out: int = 0


def profile_column(job: TrackedJob, asked: Profile) -> ColumnProfile:
    """Describe the values of a column: here, or by Spark where they are many."""
    [profile] = _described(job, table_of(job), asked.version, [asked.column])
    return profile


def profile_all(job: TrackedJob, asked: ProfileAll) -> TableProfile:
    """Describe the values of every column of a version."""
    table = table_of(job)
    opened = open_table(table, roots=roots_of_server())
    columns, num_left_out = _readable(opened.snapshot(asked.version).schema)
    return TableProfile(
        version=asked.version,
        columns=tuple(_described(job, table, asked.version, columns)),
        num_left_out=num_left_out,
    )


def _readable(schema: StructType) -> tuple[list[ColumnPath], int]:
    """Return the columns whose values can be read, and the number of the others."""
    paths = [leaf.path for leaf in leaf_fields(schema)]
    found = []
    for path in paths:
        try:
            ProfiledColumn.of(schema, (), path)
        except DeltaError:
            continue
        found.append(path)
        if len(found) == MAX_COLUMNS:
            break
    return found, len(paths) - len(found)


def _described(
    job: TrackedJob, table: Table, version: int, columns: Sequence[ColumnPath]
) -> list[ColumnProfile]:
    work = _Profiling(
        job=job,
        place=table_place(table, roots=roots_of_server()),
        version=version,
        num_files=_num_files(table, version),
        columns=columns,
    )
    most = min(settings.SPARK_DIFF_BYTES, BYTES_HERE)
    profiles, _engine = choose(
        work.size_bytes(), most, here=work.here, on_spark=work.on_spark, reports=job
    )
    return profiles


@dataclass(frozen=True, kw_only=True)
class _Profiling:
    """The columns of a version that a job describes, one after the other.

    So the values of one column are held at once.
    """

    job: TrackedJob
    place: TablePlace
    version: int
    num_files: int | None
    columns: Sequence[ColumnPath]

    @cached_property
    def snapshot(self) -> Snapshot:
        return DeltaTable.from_store(self.place.open()).snapshot(self.version)

    def size_bytes(self) -> int | None:
        """Return the bytes of the files; None if they are too many to be read here."""
        if self.num_files is None or self.num_files > FILES_HERE:
            return None
        num_records = self.snapshot.statistics(())["num_records"]
        if num_records.null_count or (pc.sum(num_records).as_py() or 0) > ROWS_HERE:
            return None
        size_bytes: int = pc.sum(self.snapshot.files["size"], min_count=0).as_py()
        return size_bytes

    def here(self) -> list[ColumnProfile]:
        report = self._report(partial(self.job.progress, unit="rows"))
        return [
            in_process.profile_column(self.snapshot, path, on_progress=report)
            for path in self._each()
        ]

    def on_spark(self, session: "SparkSession") -> list[ColumnProfile]:
        self.job.step("Reading the column" if self._is_one else "Reading the columns")
        report = self._report(self.job.progress_of("tasks"))
        found = []
        for path in self._each():
            request = spark.statistics.ProfileRequest(
                place=self.place,
                version=self.version,
                column=path,
                num_files=self.num_files,
            )
            profile = spark.statistics.profile_column
            found.append(profile(session, request, on_progress=report))
        return found

    @property
    def _is_one(self) -> bool:
        return len(self.columns) == 1

    def _each(self) -> Iterator[ColumnPath]:
        for place, path in enumerate(self.columns):
            if not self._is_one:
                self.job.progress(place, total=len(self.columns), unit="columns")
            yield path

    def _report(self, of_one: Callable[..., None]) -> Callable[..., None]:
        """Return what is told of the rows or tasks of a column.

        Of several columns their number is the progress.
        """
        return of_one if self._is_one else lambda *_done: self.job.check_cancelled()


def _num_files(table: Table, version: int) -> int | None:
    """Return how many files a version has, or the newest one has as a guess."""
    commit = table.commits.filter(version=version).first()
    num_files = table.num_files if version == table.version else None
    if num_files is None and commit is not None:
        num_files = commit.num_files
    return num_files if num_files is not None else table.num_files


def _page(job: Job) -> Page:
    address = column_address(job.parameters["column"])
    return "explorer:column-detail", (address,), {"v": job.parameters["version"]}


PROFILE: Final = kinds.register(
    TableLook(
        name="tables.profile_column",
        words="Profile a column",
        parameters=Profile,
        result=ColumnProfile,
        title=lambda table, asked: (
            f"Profile {'.'.join(asked.column)} of {table.full_name}"
            f" at version {asked.version}"
        ),
        is_apart=True,
        first_step="Reading the column",
        run=profile_column,
        queue=Queue.SPARK,
        page=on_table(_page),
    )
)


def _schema_page(job: Job) -> Page:
    return "explorer:schema-detail", (), {"v": job.parameters["version"]}


PROFILE_ALL: Final = kinds.register(
    TableLook(
        name="tables.profile_columns",
        words="Profile all columns",
        parameters=ProfileAll,
        result=TableProfile,
        title=lambda table, asked: (
            f"Profile all columns of {table.full_name} at version {asked.version}"
        ),
        is_apart=True,
        is_long=lambda _asked: True,
        first_step="Reading the columns",
        run=profile_all,
        queue=Queue.SPARK,
        page=on_table(_schema_page),
    )
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProfile:
    """A profile that a job has made, and the job."""

    job: Job
    profile: ColumnProfile


def known_profiles(
    table: Table, version: int | None
) -> dict[tuple[str, ...], KnownProfile]:
    """Return the profiles of a version that jobs have made, by column.

    The newest one of a column counts. Only those of this very table count: see
    `TableLook.key`.
    """
    if version is None:
        return {}
    jobs = Job.objects.filter(
        kind__in=(PROFILE.name, PROFILE_ALL.name),
        subject_id=table.id,
        state=Job.State.DONE,
        parameters__version=version,
    )
    jobs = jobs.defer("log", "error_detail").order_by("created_at")
    found: dict[tuple[str, ...], KnownProfile] = {}
    key_of_all = ""
    for job in jobs:
        if job.kind == PROFILE_ALL.name:
            key_of_all = key_of_all or PROFILE_ALL.key(table, PROFILE_ALL.asked(job))
            result = PROFILE_ALL.found(job) if job.key == key_of_all else None
            for one in result.columns if result else ():
                found[tuple(one.column)] = KnownProfile(job=job, profile=one)
            continue
        asked = PROFILE.asked(job)
        profile = PROFILE.found(job) if job.key == PROFILE.key(table, asked) else None
        if profile is not None:
            found[tuple(asked.column)] = KnownProfile(job=job, profile=profile)
    return found
