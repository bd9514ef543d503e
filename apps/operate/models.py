"""Switch: a part of the server that an administrator can switch off; Restoration."""

from typing import Final

from django.db import models

MAX_SENTENCE: Final = 300


class Switch(models.Model):
    """A switch that was used at least once; one without a row is on.

    The names are those of `apps.operate.switches.state.SWITCHES`.
    """

    name = models.CharField(max_length=32, primary_key=True)
    is_off = models.BooleanField(default=False)
    sentence = models.CharField(max_length=MAX_SENTENCE, blank=True)
    changed_at = models.DateTimeField()
    changed_by = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} {'off' if self.is_off else 'on'}"


class Restoration(models.Model):
    """A restore of a backup, and what an administrator has to decide after it.

    Attributes:
        decisions: Counts of what the restore ended, and the storages it cannot read.
        compared: The comparison with an audit record; None if none was compared.
        decided_at: When the last decision was made; None while some are open.
    """

    restored_at = models.DateTimeField()
    made_at = models.DateTimeField()  # the backup
    made_by = models.CharField(max_length=40)  # the version of deltaweb
    decisions = models.JSONField(default=dict)
    compared = models.JSONField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["-restored_at", "-id"]

    def __str__(self) -> str:
        return f"backup of {self.made_at:%Y-%m-%d %H:%M}"
