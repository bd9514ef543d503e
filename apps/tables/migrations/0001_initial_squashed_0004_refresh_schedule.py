import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [
        ("tables", "0001_initial"),
        ("tables", "0002_storage_connections"),
        ("tables", "0003_archived_commits"),
        ("tables", "0004_refresh_schedule"),
    ]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="AllowedRoot",
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
                ("path", models.CharField(max_length=1000, unique=True)),
                ("reason", models.CharField(blank=True, max_length=100)),
                ("created_at", models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name="Table",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=uuid.uuid4,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("namespace", models.CharField(default="default", max_length=200)),
                ("name", models.CharField(max_length=200)),
                ("location", models.CharField(max_length=2000)),
                ("description", models.TextField(blank=True)),
                ("restricted", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("NEW", "not indexed yet"),
                            ("INDEXED", "indexed"),
                            ("UNSUPPORTED", "metadata only"),
                            ("FAILED", "never indexed: the first attempt failed"),
                        ],
                        default="NEW",
                        max_length=16,
                    ),
                ),
                ("version", models.BigIntegerField(blank=True, null=True)),
                ("committed_at", models.DateTimeField(blank=True, null=True)),
                ("indexed_at", models.DateTimeField(blank=True, null=True)),
                ("index_name", models.CharField(blank=True, max_length=200)),
                ("delta_id", models.CharField(blank=True, max_length=200)),
                ("comment", models.TextField(blank=True)),
                ("num_files", models.BigIntegerField(blank=True, null=True)),
                ("size_bytes", models.BigIntegerField(blank=True, null=True)),
                ("num_records", models.BigIntegerField(blank=True, null=True)),
                ("num_tombstones", models.BigIntegerField(blank=True, null=True)),
                ("num_columns", models.PositiveIntegerField(blank=True, null=True)),
                ("partition_columns", models.JSONField(blank=True, default=list)),
                ("summary", models.JSONField(blank=True, default=dict)),
                ("probed_at", models.DateTimeField(blank=True, null=True)),
                ("probe_due_at", models.DateTimeField(db_index=True)),
                ("probe_failures", models.PositiveIntegerField(default=0)),
                ("latest_version_seen", models.BigIntegerField(blank=True, null=True)),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("error", models.TextField(blank=True)),
                ("error_hint", models.TextField(blank=True)),
                ("error_since", models.DateTimeField(blank=True, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("commit_file_bytes", models.BigIntegerField(blank=True, null=True)),
                ("commit_file_ms", models.BigIntegerField(blank=True, null=True)),
                (
                    "refresh_interval_s",
                    models.PositiveIntegerField(blank=True, null=True),
                ),
            ],
            options={
                "ordering": ["namespace", "name"],
            },
        ),
        migrations.CreateModel(
            name="ProtocolVersion",
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
                ("version", models.BigIntegerField()),
                ("min_reader_version", models.IntegerField()),
                ("min_writer_version", models.IntegerField()),
                ("reader_features", models.JSONField(blank=True, null=True)),
                ("writer_features", models.JSONField(blank=True, null=True)),
                ("unsupported_reason", models.TextField(blank=True)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="protocol_versions",
                        to="tables.table",
                    ),
                ),
            ],
            options={
                "ordering": ["-version"],
            },
        ),
        migrations.CreateModel(
            name="MetadataVersion",
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
                ("version", models.BigIntegerField()),
                ("metadata_id", models.CharField(blank=True, max_length=200)),
                ("metadata_name", models.TextField(blank=True)),
                ("description", models.TextField(blank=True)),
                ("format_provider", models.CharField(blank=True, max_length=100)),
                ("schema_string", models.TextField(blank=True)),
                ("partition_columns", models.JSONField(blank=True, default=list)),
                ("configuration", models.JSONField(blank=True, default=dict)),
                ("created_time", models.BigIntegerField(blank=True, null=True)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="metadata_versions",
                        to="tables.table",
                    ),
                ),
            ],
            options={
                "ordering": ["-version"],
            },
        ),
        migrations.CreateModel(
            name="Commit",
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
                ("version", models.BigIntegerField()),
                ("committed_at", models.DateTimeField()),
                ("operation", models.CharField(blank=True, max_length=100)),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("metrics", models.JSONField(blank=True, default=dict)),
                ("user_name", models.CharField(blank=True, max_length=300)),
                ("engine_info", models.CharField(blank=True, max_length=300)),
                ("sentence", models.TextField(blank=True)),
                ("num_added_files", models.BigIntegerField(default=0)),
                ("num_removed_files", models.BigIntegerField(default=0)),
                ("added_bytes", models.BigIntegerField(default=0)),
                ("removed_bytes", models.BigIntegerField(blank=True, null=True)),
                ("added_rows", models.BigIntegerField(blank=True, null=True)),
                ("removed_rows", models.BigIntegerField(blank=True, null=True)),
                ("num_files", models.BigIntegerField(blank=True, null=True)),
                ("size_bytes", models.BigIntegerField(blank=True, null=True)),
                ("num_records", models.BigIntegerField(blank=True, null=True)),
                ("data_change", models.BooleanField(default=True)),
                ("changes_metadata", models.BooleanField(default=False)),
                ("changes_schema", models.BooleanField(default=False)),
                ("changes_protocol", models.BooleanField(default=False)),
                (
                    "readability",
                    models.CharField(
                        choices=[
                            ("READABLE", "readable"),
                            ("PARTLY", "partly"),
                            ("GONE", "gone"),
                            ("UNSUPPORTED", "unsupported"),
                        ],
                        default="READABLE",
                        max_length=16,
                    ),
                ),
                ("readability_reason", models.CharField(blank=True, max_length=300)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="commits",
                        to="tables.table",
                    ),
                ),
                ("is_archived", models.BooleanField(default=False)),
            ],
            options={
                "ordering": ["-version"],
            },
        ),
        migrations.CreateModel(
            name="TableColumn",
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
                ("position", models.PositiveIntegerField()),
                ("path", models.CharField(max_length=1000)),
                ("type_text", models.CharField(max_length=1000)),
                (
                    "table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="columns",
                        to="tables.table",
                    ),
                ),
            ],
            options={
                "ordering": ["position"],
            },
        ),
        migrations.AddIndex(
            model_name="table",
            index=models.Index(fields=["-committed_at"], name="table_newest_commit"),
        ),
        migrations.AddConstraint(
            model_name="table",
            constraint=models.UniqueConstraint(
                fields=("namespace", "name"), name="table_unique_name"
            ),
        ),
        migrations.AddConstraint(
            model_name="protocolversion",
            constraint=models.UniqueConstraint(
                fields=("table", "version"), name="protocol_unique_version"
            ),
        ),
        migrations.AddConstraint(
            model_name="metadataversion",
            constraint=models.UniqueConstraint(
                fields=("table", "version"), name="metadata_unique_version"
            ),
        ),
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(
                fields=["table", "committed_at"], name="commit_table_time"
            ),
        ),
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(fields=["-committed_at"], name="commit_newest_first"),
        ),
        migrations.AddConstraint(
            model_name="commit",
            constraint=models.UniqueConstraint(
                fields=("table", "version"), name="commit_unique_version"
            ),
        ),
        migrations.CreateModel(
            name="StorageConnection",
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
                ("name", models.CharField(max_length=100, unique=True)),
                ("prefix", models.CharField(max_length=500, unique=True)),
                ("option_names", models.JSONField(default=list)),
                ("sealed", models.TextField()),
                ("created_at", models.DateTimeField()),
                ("updated_at", models.DateTimeField()),
                (
                    "created_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
            },
        ),
    ]
