"""The models of the catalog and of each table's index."""

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef
from django.utils.functional import cached_property

from apps.pages.lists.links import address_of
from apps.tables.models.actions import MetadataVersion as MetadataVersion
from apps.tables.models.actions import ProtocolVersion as ProtocolVersion
from apps.tables.models.grants import Grant as Grant
from apps.tables.models.health import NamespaceThresholds as NamespaceThresholds
from apps.tables.models.health import StoredFinding as StoredFinding
from apps.tables.models.lakes import AllowedRoot as AllowedRoot
from apps.tables.models.lakes import Lake as Lake
from apps.tables.models.lakes import StorageConnection as StorageConnection
from apps.tables.models.missing_files import MissingFiles as MissingFiles
from apps.tables.models.namespaces import Namespace as Namespace
from apps.tables.models.repeats import RepeatedOperation as RepeatedOperation
from apps.tables.models.requests import AccessRequest as AccessRequest
from apps.tables.models.rights import VIEW, allowed
from apps.tables.models.schedules import ONLY_WHEN_ASKED_S
from apps.tables.models.uses import TableUse as TableUse
from apps.tables.models.wide_schemas import WideSchema as WideSchema
from apps.tables.models.words import ColumnWords as ColumnWords
from deltaweb import delta
from deltaweb.delta.log import versions

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from apps.accounts.models import User

MAX_REASON_LENGTH: Final = 300  # of why a version cannot be read


IS_BEHIND: Final = (
    models.Q(indexed_at__isnull=False)
    & ~models.Q(fault="")
    & (models.Q(error_code="") | models.Q(error_code=models.F("fault_code")))
)
"""The condition of the tables that are `behind`."""


REMOVES_ROWS: Final = models.Q(data_change=True) & (
    models.Q(removed_rows__gt=models.F("added_rows"))
    | models.Q(
        added_rows__isnull=True, num_removed_files__gt=models.F("num_added_files")
    )
    | models.Q(
        removed_rows__isnull=True, num_removed_files__gt=models.F("num_added_files")
    )
)
"""The condition of commits after which a table has fewer rows, as far as is known.

It compares columns alone: SQLite finds an index by a condition without parameters.
"""


def name_holds(text: str) -> models.Q:
    """Match tables by a part of their name, of their namespace or of both."""
    words = models.Q(name__icontains=text) | models.Q(namespace__icontains=text)
    namespace, dot, name = text.rpartition(".")
    if dot and namespace and name:
        words |= models.Q(namespace__iendswith=namespace, name__istartswith=name)
    return words


class TableQuerySet(models.QuerySet["Table"]):
    """Queries over registered tables."""

    def visible_to(
        self, user: "User | AnonymousUser", *, now: datetime | None = None
    ) -> "TableQuerySet":
        """Tables that `user` may know of at a moment; None is the present."""
        return self.with_right(user, VIEW, now=now)

    def with_right(
        self, user: "User | AnonymousUser", right: str, *, now: datetime | None = None
    ) -> "TableQuerySet":
        """Tables on which `user` has a right, of `rights.EVERY_RIGHT`."""
        return self.filter(allowed(user, right, now=now))

    def with_privacy(self) -> "TableQuerySet":
        """Tables that know without a query each whether their namespace is private."""
        private = Namespace.objects.private_names().filter(name=OuterRef("namespace"))
        return self.annotate(has_private_namespace=Exists(private))

    def due_for_probe(self, now: datetime) -> "TableQuerySet":
        """Tables whose newest version is to be looked up, longest due first."""
        scheduled = self.exclude(refresh_interval_s=ONLY_WHEN_ASKED_S)
        scheduled = scheduled.filter(vanished_at=None)
        return scheduled.filter(probe_due_at__lte=now).order_by("probe_due_at")


TableManager = models.Manager.from_queryset(TableQuerySet)


class Table(models.Model):
    """A registered table and the summary of its newest indexed snapshot."""

    class State(models.TextChoices):
        """What the index holds of a table."""

        NEW = "NEW", "not indexed yet"
        INDEXED = "INDEXED", "indexed"
        # Its newest version asks for more than we read: metadata and history alone.
        UNSUPPORTED = "UNSUPPORTED", "metadata only"
        FAILED = "FAILED", "never indexed: the first attempt failed"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    namespace = models.CharField(max_length=200, default="default")
    name = models.CharField(max_length=200)
    location = models.CharField(max_length=2000)
    description = models.TextField(blank=True)
    # Only grants and administrators count for it; see `apps.tables.models.rights`.
    is_private = models.BooleanField(default=False)
    # People who may not see it learn of its name, its description and its owner.
    is_listed = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True
    )

    # === Whom to ask about it, and words that people file it under ===
    owned_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="owned_tables",
    )
    tags = models.JSONField(default=list, blank=True)  # texts, sorted

    # === The lake that it was found in ===
    lake = models.ForeignKey(
        Lake, models.SET_NULL, null=True, blank=True, related_name="tables"
    )
    # Since when scans of the lake no longer find it.
    vanished_at = models.DateTimeField(null=True, blank=True)

    # === The newest indexed snapshot ===
    state = models.CharField(max_length=16, choices=State, default=State.NEW)
    version = models.BigIntegerField(null=True, blank=True)
    committed_at = models.DateTimeField(null=True, blank=True)
    indexed_at = models.DateTimeField(null=True, blank=True)
    index_name = models.CharField(
        max_length=200, blank=True
    )  # folder of the file index
    delta_id = models.CharField(max_length=200, blank=True)  # metaData.id of the log
    comment = models.TextField(blank=True)  # metaData.description of the log
    num_files = models.BigIntegerField(null=True, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    num_records = models.BigIntegerField(
        null=True, blank=True
    )  # null: not all files say
    num_tombstones = models.BigIntegerField(null=True, blank=True)
    num_columns = models.PositiveIntegerField(null=True, blank=True)
    partition_columns = models.JSONField(default=list, blank=True)
    last_writer = models.CharField(max_length=300, blank=True)  # of its commit
    features = models.JSONField(default=list, blank=True)  # writer features, sorted
    # Readable versions as runs [first, last, state, reason], and what pages draw.
    summary = models.JSONField(default=dict, blank=True)

    # === The newest listing of its data files ===
    files_checked_at = models.DateTimeField(null=True, blank=True)
    files_checked_first = models.BigIntegerField(null=True, blank=True)  # versions
    files_checked_last = models.BigIntegerField(null=True, blank=True)

    # === The newest look of the rules at it (`StoredFinding`) ===
    health_checked_at = models.DateTimeField(null=True, blank=True, db_index=True)

    # === The newest look at storage ===
    # null: as the installation is set; 0: only when asked.
    refresh_interval_s = models.PositiveIntegerField(null=True, blank=True)
    probed_at = models.DateTimeField(null=True, blank=True)
    probe_due_at = models.DateTimeField(db_index=True)
    probe_failures = models.PositiveIntegerField(default=0)
    latest_version_seen = models.BigIntegerField(null=True, blank=True)
    # The commit file of `version` as storage lists it: another one is another log.
    commit_file_bytes = models.BigIntegerField(null=True, blank=True)
    commit_file_ms = models.BigIntegerField(null=True, blank=True)  # its modification
    error_code = models.CharField(max_length=64, blank=True)
    error = models.TextField(blank=True)
    error_hint = models.TextField(blank=True)
    error_since = models.DateTimeField(null=True, blank=True)
    # What hides newer versions in its log, in words, and the code of that error; both
    # stay, whatever storage answers, until an index has read the log to its end.
    fault = models.CharField(max_length=300, blank=True)
    fault_code = models.CharField(max_length=64, blank=True)

    objects = TableManager()

    class Meta:
        ordering = ["namespace", "name"]
        constraints = [
            models.UniqueConstraint(
                fields=["namespace", "name"], name="table_unique_name"
            )
        ]
        indexes = [
            models.Index(fields=["-committed_at"], name="table_newest_commit"),
            # The columns by which the catalog sorts and counts, without the wide rows.
            models.Index(
                fields=[
                    *("namespace", "name", "is_private", "id", "owned_by"),
                    *("committed_at", "num_records", "size_bytes", "num_files"),
                    *("state", "indexed_at", "error_code", "fault_code", "fault"),
                ],
                name="table_catalogue",
            ),
        ]

    def __str__(self) -> str:
        return self.full_name

    def get_absolute_url(self) -> str:
        """Return the address of the table's overview."""
        return address_of("t", self.namespace, self.name)

    # === Queries ===

    @property
    def full_name(self) -> str:
        """`namespace.table`, or the bare name in the namespace `default`."""
        if self.namespace == "default":
            return self.name
        return f"{self.namespace}.{self.name}"

    @property
    def owner_name(self) -> str | None:
        """The name of the account that owns it."""
        return self.owned_by.username if self.owned_by else None

    @property
    def is_hidden(self) -> bool:
        """Whether it or its namespace is private, so that roles do not count."""
        return self.is_private or self.is_in_private_namespace

    @cached_property
    def is_in_private_namespace(self) -> bool:
        """Whether its namespace is private; no query after `with_privacy`."""
        known: bool | None = getattr(self, "has_private_namespace", None)
        if known is not None:
            return known
        return Namespace.objects.filter(name=self.namespace, is_private=True).exists()

    def take_name(self, namespace: str, name: str) -> None:
        """Set its name, and forget whether the former namespace was private."""
        self.namespace, self.name = namespace, name
        self.__dict__.pop("is_in_private_namespace", None)
        self.__dict__.pop("has_private_namespace", None)

    @property
    def is_stale(self) -> bool:
        """Whether storage is known to hold a newer version than the index."""
        if self.latest_version_seen is None:
            return False
        return self.version is None or self.latest_version_seen > self.version

    @property
    def is_unreachable(self) -> bool:
        """Whether the newest look at storage failed though an index is there."""
        failed = bool(self.error_code) and self.indexed_at is not None
        is_of_log = self.error_code in {self.fault_code, ""}
        return (
            failed and not is_of_log and not self.error_code.startswith("unsupported-")
        )

    @property
    def behind(self) -> str:
        """What hides newer versions of its log, in words; "" where nothing does.

        Where storage does not answer at all, that is what there is to say.
        """
        is_shown = self.indexed_at is not None and not self.is_unreachable
        return self.fault if is_shown else ""

    @property
    def status_key(self) -> str:
        """How it is, in one word: the index, and what storage answers."""
        is_behind = (
            self.indexed_at is not None
            and bool(self.fault)
            and self.error_code in {"", self.fault_code}
        )
        words = (
            (self.state == self.State.FAILED, "failed"),
            (self.state == self.State.NEW, "new"),
            (is_behind, "behind"),
            (self.state == self.State.UNSUPPORTED, "unsupported"),
            (bool(self.error_code), "unreachable"),
        )
        return next((word for holds, word in words if holds), "indexed")

    @property
    def about(self) -> str:
        """What people wrote of the table here, else what its own log says."""
        return self.description or self.comment


class CommitQuerySet(models.QuerySet["Commit"]):
    """Queries over the commits of tables."""

    def before(self, version: int | None) -> "CommitQuerySet":
        """Commits older than `version`, newest first; all of them for None."""
        commits = self.order_by("-version")
        return commits if version is None else commits.filter(version__lt=version)


CommitManager = models.Manager.from_queryset(CommitQuerySet)


class Commit(models.Model):
    """One version of a table, as its commit file recorded it.

    Counts and sizes are those of the actions in the commit; null means that the
    commit does not say.
    """

    class Readability(models.TextChoices):
        """Whether a version can still be read, as far as is known."""

        READABLE = versions.READABLE, "readable"
        PARTLY = versions.PARTLY, "partly"  # some of its files are vacuumed
        FILES_GONE = versions.FILES_GONE, "files gone"  # none of its files is left
        GONE = versions.GONE, "gone"  # the log no longer reaches it
        UNSUPPORTED = versions.UNSUPPORTED, "unsupported"

    table = models.ForeignKey(Table, models.CASCADE, related_name="commits")
    version = models.BigIntegerField()
    committed_at = models.DateTimeField()
    operation = models.CharField(max_length=100, blank=True)
    parameters = models.JSONField(default=dict, blank=True)
    metrics = models.JSONField(default=dict, blank=True)
    user_name = models.CharField(max_length=300, blank=True)
    engine_info = models.CharField(max_length=300, blank=True)
    sentence = models.TextField(blank=True)  # plain words, for search and lists
    num_added_files = models.BigIntegerField(default=0)
    num_removed_files = models.BigIntegerField(default=0)
    added_bytes = models.BigIntegerField(default=0)
    removed_bytes = models.BigIntegerField(null=True, blank=True)
    added_rows = models.BigIntegerField(null=True, blank=True)
    removed_rows = models.BigIntegerField(null=True, blank=True)
    # The table after this commit; null when its snapshot cannot be reconstructed.
    num_files = models.BigIntegerField(null=True, blank=True)
    size_bytes = models.BigIntegerField(null=True, blank=True)
    num_records = models.BigIntegerField(null=True, blank=True)
    data_change = models.BooleanField(default=True)
    changes_metadata = models.BooleanField(default=False)
    changes_schema = models.BooleanField(default=False)
    changes_protocol = models.BooleanField(default=False)
    readability = models.CharField(
        max_length=16, choices=Readability, default=Readability.READABLE
    )
    readability_reason = models.CharField(max_length=MAX_REASON_LENGTH, blank=True)
    # The log no longer holds the commit's file: this row is what is left of it.
    is_archived = models.BooleanField(default=False)

    objects = CommitManager()

    class Meta:
        ordering = ["-version"]
        constraints = [
            models.UniqueConstraint(
                fields=["table", "version"], name="commit_unique_version"
            )
        ]
        indexes = [
            models.Index(fields=["table", "committed_at"], name="commit_table_time"),
            models.Index(fields=["-committed_at"], name="commit_newest_first"),
            models.Index(fields=["user_name", "-committed_at"], name="commit_by_user"),
            models.Index(
                fields=["-committed_at"],
                name="commit_schema_changes",
                condition=models.Q(changes_schema=True),
            ),
            models.Index(
                fields=["-committed_at"],
                name="commit_removes_rows",
                condition=REMOVES_ROWS,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}@{self.version}"

    # === Queries ===

    @property
    def changes_files(self) -> bool:
        """Whether files came or went by it."""
        return bool(self.num_added_files or self.num_removed_files)

    def is_in_feed(self, metadata: MetadataVersion | None) -> bool:
        """Whether the table recorded which rows it changed.

        Args:
            metadata: The metadata at its version; None where that is not known.
        """
        has_rows = self.data_change and self.changes_files and not self.is_archived
        return (
            has_rows
            and metadata is not None
            and delta.feed.versions.is_feed_on(metadata.configuration or {})
        )


class TableColumnQuerySet(models.QuerySet["TableColumn"]):
    """Queries over the columns of tables."""

    def visible_to(self, user: "User | AnonymousUser") -> "TableColumnQuerySet":
        """Columns of the tables that `user` may know of; the rule is the tables'."""
        return self.filter(allowed(user, VIEW, "table__"))

    def holding(self, text: str) -> "TableColumnQuerySet":
        """Return the columns whose path contains a text, in any case."""
        tables = ColumnWords.objects.holding(text).order_by().values("table")
        return self.filter(path__icontains=text, table__in=tables)


TableColumnManager = models.Manager.from_queryset(TableColumnQuerySet)


class TableColumn(models.Model):
    """A column of a table's newest schema, nested ones by their dotted path."""

    table = models.ForeignKey(Table, models.CASCADE, related_name="columns")
    position = models.PositiveIntegerField()
    path = models.CharField(max_length=1000)
    type_text = models.CharField(max_length=1000)

    objects = TableColumnManager()

    class Meta:
        ordering = ["position"]

    def __str__(self) -> str:
        return self.path
