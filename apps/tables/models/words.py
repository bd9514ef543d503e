"""The paths of the columns of each table as one text, for searches."""

from collections.abc import Iterable
from typing import Final

from django.db import models
from django.db.models import Value
from django.db.models.functions import StrIndex

SEPARATOR: Final = "\n"  # few paths hold it


class ColumnWordsQuerySet(models.QuerySet["ColumnWords"]):
    """Queries over the paths of columns."""

    def holding(self, text: str) -> "models.QuerySet[ColumnWords]":
        """Return the tables with a column whose path contains a text, in any case."""
        return self.alias(at=StrIndex("paths", Value(text.lower()))).filter(at__gt=0)


ColumnWordsManager = models.Manager.from_queryset(ColumnWordsQuerySet)


class ColumnWords(models.Model):
    """The paths of a table's columns as one text.

    A search reads it instead of each column (`TableColumn`): there are twenty times as
    many of them.
    """

    table = models.OneToOneField(
        "tables.Table", models.CASCADE, primary_key=True, related_name="column_words"
    )
    paths = models.TextField()  # in small letters, with `SEPARATOR` between

    objects = ColumnWordsManager()

    class Meta:
        ordering = ["table"]

    def __str__(self) -> str:
        return f"columns of {self.table_id}"


def words_of(paths: Iterable[str]) -> str:
    """Return the paths of columns as one text."""
    return SEPARATOR.join(path.lower() for path in paths)
