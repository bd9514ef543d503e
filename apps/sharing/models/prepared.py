"""What rules leave of shared tables, rewritten and ready."""

from django.db import models


class PreparedChanges(models.Model):
    """What a rule leaves of the changes of a version of a shared table.

    Where `is_ready`, `files` hold all of them, or there are none; otherwise they are
    not offered, and will not be. `made_ms` is when the version was made, in
    milliseconds since the epoch.
    """

    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="prepared_changes"
    )
    rule = models.CharField(max_length=64)
    version = models.BigIntegerField()
    is_ready = models.BooleanField()
    made_ms = models.BigIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shared_table", "rule", "version"],
                name="prepared_changes_unique",
            )
        ]

    def __str__(self) -> str:
        return f"Changes of {self.shared_table} at {self.version}"


class PreparedFile(models.Model):
    """What a rule leaves of a data file of a shared table, rewritten.

    `key` is a keyed hash of all that it was made from, and the name of the file, which
    is there where any row is left. `rule` is the digest of the rule with the values of
    recipients that it asks for: recipients with equal ones share files. One of
    `changes` holds rows that came (its `kind` is `add`) or that went (`remove`), one
    without is of any version that has its source. Where `is_stored`, the source itself
    is served, because it is plain, and no rows and bytes are counted here.
    """

    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="prepared_files"
    )
    changes = models.ForeignKey(
        PreparedChanges,
        models.CASCADE,
        related_name="files",
        null=True,
        blank=True,
    )
    kind = models.CharField(max_length=6, blank=True)
    key = models.CharField(max_length=64, unique=True)
    rule = models.CharField(max_length=64)
    source_path = models.TextField()  # as in the log of the table
    is_stored = models.BooleanField(default=False)
    num_rows = models.BigIntegerField()
    size_bytes = models.BigIntegerField()
    partition_values = models.JSONField(default=dict)
    statistics = models.TextField(blank=True)
    prepared_at = models.DateTimeField()
    last_used_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["shared_table", "rule"], name="prepared_file_rule")
        ]

    def __str__(self) -> str:
        return self.key


class PreparedVersion(models.Model):
    """A version of a shared table whose files were all ready under a rule.

    Recipients read `num_rows` of it, None if a file does not say. Of its files
    `num_signed` were handed out as they are, `num_rewritten` in part, and `num_absent`
    not at all. `num_outside` are the rows that a proof found outside of the rule, None
    where none was asked for.
    """

    shared_table = models.ForeignKey(
        "sharing.SharedTable", models.CASCADE, related_name="prepared_versions"
    )
    rule = models.CharField(max_length=64)
    version = models.BigIntegerField()
    num_signed = models.BigIntegerField()
    num_rewritten = models.BigIntegerField()
    num_absent = models.BigIntegerField()
    size_bytes = models.BigIntegerField()  # of the rewritten files
    num_rows = models.BigIntegerField(null=True, blank=True)
    num_outside = models.BigIntegerField(null=True, blank=True)
    prepared_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["shared_table", "rule", "version"],
                name="prepared_version_unique",
            )
        ]

    def __str__(self) -> str:
        return f"{self.shared_table} at {self.version}"
