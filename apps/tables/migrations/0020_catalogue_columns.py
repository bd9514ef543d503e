"""Keep with each table who wrote its newest version, its features, and its columns.

The catalog filters by the first two and counts them; they were looked up for each
table. A search read every column of every table.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from uuid import UUID

import django.db.models.deletion
from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import JSONField, OuterRef, Subquery, Value
from django.db.models.functions import Coalesce


def fill(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Fill the columns from the commits and protocols of the index."""
    del schema_editor
    commits = apps.get_model("tables", "Commit").objects
    newest = commits.filter(table=OuterRef("pk"), version=OuterRef("version"))
    protocols = apps.get_model("tables", "ProtocolVersion").objects
    protocol = protocols.filter(table=OuterRef("pk")).order_by("-version")
    apps.get_model("tables", "Table").objects.update(
        last_writer=Coalesce(Subquery(newest.values("user_name")[:1]), Value("")),
        features=Coalesce(
            Subquery(protocol.values("writer_features")[:1]), Value([], JSONField())
        ),
    )


def fill_words(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Join the paths of the columns of each table."""
    del schema_editor
    columns = apps.get_model("tables", "TableColumn").objects.order_by("table")
    paths = columns.values_list("table", "path").iterator(chunk_size=10_000)
    words = apps.get_model("tables", "ColumnWords")
    words.objects.bulk_create(
        (words(table_id=key, paths=text) for key, text in _joined(paths)),
        batch_size=500,
    )


def _joined(paths: Iterable[tuple[UUID, str]]) -> Iterator[tuple[UUID, str]]:
    for key, of_table in groupby(paths, key=itemgetter(0)):
        yield key, "\n".join(path.lower() for _, path in of_table)


class Migration(migrations.Migration):
    dependencies = [("tables", "0019_access_requests")]

    operations = [
        migrations.AddField(
            model_name="table",
            name="features",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.AddField(
            model_name="table",
            name="last_writer",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
        migrations.CreateModel(
            name="ColumnWords",
            fields=[
                (
                    "table",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="column_words",
                        serialize=False,
                        to="tables.table",
                    ),
                ),
                ("paths", models.TextField()),
            ],
            options={"ordering": ["table"]},
        ),
        migrations.RunPython(fill_words, migrations.RunPython.noop),
        migrations.AddIndex(
            model_name="table",
            index=models.Index(
                fields=[
                    "namespace",
                    "name",
                    "is_private",
                    "id",
                    "owned_by",
                    "committed_at",
                    "num_records",
                    "size_bytes",
                    "num_files",
                    "state",
                    "indexed_at",
                    "error_code",
                    "fault_code",
                    "fault",
                ],
                name="table_catalogue",
            ),
        ),
    ]
