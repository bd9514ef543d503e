import hashlib

import django.db.models.deletion
from django.apps.registry import Apps as StateApps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models.functions import Length

MIN_LENGTH = 200_000  # a schema of too many fields is longer than this


def move_wide_schemas(apps: StateApps, _editor: BaseDatabaseSchemaEditor) -> None:
    """Move the schemas that are too wide for a page out of the rows of metadata."""
    MetadataVersion = apps.get_model("tables", "MetadataVersion")
    WideSchema = apps.get_model("tables", "WideSchema")
    long = MetadataVersion.objects.annotate(length=Length("schema_string"))
    ids = list(
        long.filter(length__gt=MIN_LENGTH).order_by().values_list("id", flat=True)
    )
    if not ids:
        return  # a new database needs no Arrow, which takes a third of a second
    from deltaweb.delta.protocol.schema import is_too_wide, schema_width

    for row_id in ids:
        row = MetadataVersion.objects.get(id=row_id)
        text = row.schema_string
        if not is_too_wide(text):
            continue
        width = schema_width(text)
        digest = hashlib.sha256(text.encode()).hexdigest()
        WideSchema.objects.get_or_create(
            table_id=row.table_id,
            digest=digest,
            defaults={**width._asdict(), "schema_string": text},
        )
        MetadataVersion.objects.filter(id=row_id).update(
            schema_string="", wide_schema_digest=digest
        )


class Migration(migrations.Migration):
    replaces = [
        ("tables", "0005_wide_schemas"),
        ("tables", "0006_missing_files"),
    ]

    dependencies = [
        ("tables", "0001_initial_squashed_0004_refresh_schedule"),
    ]

    operations = [
        migrations.AddField(
            model_name="metadataversion",
            name="wide_schema_digest",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.CreateModel(
            name="WideSchema",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("digest", models.CharField(max_length=64)),
                ("num_columns", models.PositiveIntegerField()),
                ("num_fields", models.PositiveIntegerField()),
                ("schema_string", models.TextField()),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="wide_schemas",
                        to="tables.table",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("table", "digest"), name="wide_schema_unique_text"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="table",
            name="files_checked_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="table",
            name="files_checked_first",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="table",
            name="files_checked_last",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AlterField(
            model_name="commit",
            name="readability",
            field=models.CharField(
                choices=[
                    ("READABLE", "readable"),
                    ("PARTLY", "partly"),
                    ("FILES_GONE", "files gone"),
                    ("GONE", "gone"),
                    ("UNSUPPORTED", "unsupported"),
                ],
                default="READABLE",
                max_length=16,
            ),
        ),
        migrations.CreateModel(
            name="MissingFiles",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True,
                        primary_key=True,
                        serialize=False,
                        verbose_name="ID",
                    ),
                ),
                ("first_version", models.BigIntegerField()),
                ("last_version", models.BigIntegerField()),
                ("num_files", models.BigIntegerField(blank=True, null=True)),
                ("num_missing", models.BigIntegerField()),
                ("is_exact", models.BooleanField(default=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("LOG", "by the log"),
                            ("LISTING", "by a listing of storage"),
                            ("READ", "by a read that failed"),
                        ],
                        max_length=16,
                    ),
                ),
                ("vacuum_version", models.BigIntegerField(blank=True, null=True)),
                ("path", models.TextField(blank=True)),
                ("found_at", models.DateTimeField()),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="missing_files",
                        to="tables.table",
                    ),
                ),
            ],
            options={
                "ordering": ["first_version"],
                "indexes": [
                    models.Index(
                        fields=["table", "first_version"], name="missing_table_first"
                    )
                ],
            },
        ),
        # Last: PostgreSQL alters no table that has rows of the same transaction.
        migrations.RunPython(move_wide_schemas, migrations.RunPython.noop),
    ]
