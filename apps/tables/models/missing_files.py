"""The model of what versions lack; `missing_files` stores and reads it."""

from django.db import models

from deltaweb.words import counted


class MissingFiles(models.Model):
    """Versions `first_version` to `last_version` of a table, which lack data files."""

    class Source(models.TextChoices):
        """How that is known; see `missing_files` for what hides what."""

        LOG = "LOG", "by the log"  # a VACUUM of the history
        LISTING = "LISTING", "by a listing of storage"
        READ = "READ", "by a read that failed"

    table = models.ForeignKey(
        "tables.Table", models.CASCADE, related_name="missing_files"
    )
    first_version = models.BigIntegerField()
    last_version = models.BigIntegerField()
    # Of each of these versions; null where that is not known.
    num_files = models.BigIntegerField(null=True, blank=True)
    num_missing = models.BigIntegerField()
    is_exact = models.BooleanField(default=True)  # or at least so many are missing
    source = models.CharField(max_length=16, choices=Source)
    vacuum_version = models.BigIntegerField(null=True, blank=True)
    path = models.TextField(blank=True)  # of one of them, as in the log
    found_at = models.DateTimeField()

    class Meta:
        ordering = ["first_version"]
        indexes = [
            models.Index(fields=["table", "first_version"], name="missing_table_first"),
        ]

    def __str__(self) -> str:
        return f"{self.table_id}@{self.first_version}-{self.last_version}"

    @property
    def num_present(self) -> int | None:
        """How many of the files are there, at most; None where that is not known."""
        if self.num_files is None:
            return None
        return max(self.num_files - self.num_missing, 0)

    @property
    def words(self) -> str:
        """Say it beside a version: `3 of 7 files`."""
        if self.num_present is None or self.num_files is None:
            return f"{self.num_missing:,} files missing"
        at_most = "" if self.is_exact else "at most "
        return f"{at_most}{self.num_present:,} of {counted(self.num_files, 'file')}"

    def describe(self) -> dict[str, object]:
        """Return it as machine forms show it."""
        return {
            "total": self.num_files,
            "missing": self.num_missing,
            "is_exact": self.is_exact,
            "known": self.source,
            "words": self.words,
        }

    @property
    def is_nothing_left(self) -> bool:
        """Whether every file is missing."""
        return self.num_present == 0
