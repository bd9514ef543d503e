import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("sharing", "0002_grants_by_rows_and_columns"),
        ("sharing", "0003_oauth_schemas_directories"),
        ("sharing", "0004_assertions_good_once"),
        ("sharing", "0005_limits_of_a_month"),
        ("sharing", "0006_changes_under_rules"),
        ("sharing", "0007_rehearsal_certificates"),
        ("sharing", "0008_last_reads_and_holds"),
        ("sharing", "0009_told_reminders"),
    ]

    dependencies = [
        ("accounts", "__first__"),
        ("sharing", "0001_initial"),
    ]

    operations = [
        migrations.RenameField(
            model_name="sharedtable",
            old_name="partition_filter",
            new_name="condition",
        ),
        migrations.AddField(
            model_name="recipient",
            name="properties",
            field=models.JSONField(blank=True, default=dict),
        ),
        migrations.AddField(
            model_name="share",
            name="off_since",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="sharedtable",
            name="columns",
            field=models.JSONField(blank=True, default=list),
        ),
        migrations.CreateModel(
            name="PreparedChanges",
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
                ("rule", models.CharField(max_length=64)),
                ("version", models.BigIntegerField()),
                ("is_ready", models.BooleanField()),
                ("made_ms", models.BigIntegerField()),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prepared_changes",
                        to="sharing.sharedtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("shared_table", "rule", "version"),
                        name="prepared_changes_unique",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PreparedFile",
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
                ("key", models.CharField(max_length=64, unique=True)),
                ("rule", models.CharField(max_length=64)),
                ("source_path", models.TextField()),
                ("num_rows", models.BigIntegerField()),
                ("size_bytes", models.BigIntegerField()),
                ("partition_values", models.JSONField(default=dict)),
                ("statistics", models.TextField(blank=True)),
                ("prepared_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField()),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prepared_files",
                        to="sharing.sharedtable",
                    ),
                ),
                (
                    "changes",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="files",
                        to="sharing.preparedchanges",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["shared_table", "rule"], name="prepared_file_rule"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="PreparedVersion",
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
                ("rule", models.CharField(max_length=64)),
                ("version", models.BigIntegerField()),
                ("num_signed", models.BigIntegerField()),
                ("num_rewritten", models.BigIntegerField()),
                ("num_absent", models.BigIntegerField()),
                ("size_bytes", models.BigIntegerField()),
                ("num_outside", models.BigIntegerField(blank=True, null=True)),
                ("prepared_at", models.DateTimeField()),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prepared_versions",
                        to="sharing.sharedtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("shared_table", "rule", "version"),
                        name="prepared_version_unique",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="RecipientRule",
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
                ("condition", models.TextField(blank=True)),
                ("columns", models.JSONField(blank=True, default=list)),
                (
                    "recipient",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="sharing.recipient",
                    ),
                ),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="rules",
                        to="sharing.sharedtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("shared_table", "recipient"),
                        name="recipient_rule_unique",
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="audience",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="group",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="issuer",
            field=models.CharField(blank=True, db_index=True, max_length=400),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="kind",
            field=models.CharField(
                choices=[
                    ("BEARER", "bearer token"),
                    ("CLIENT_SECRET", "OAuth client, by a secret"),
                    ("PRIVATE_KEY", "OAuth client, by a private key"),
                    ("FEDERATED", "tokens of an OIDC issuer"),
                ],
                default="BEARER",
                max_length=16,
            ),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="public_key",
            field=models.TextField(blank=True),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="subject",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="sharedtable",
            name="with_directory",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="SharedSchema",
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
                ("schema", models.CharField(max_length=255)),
                ("schema_key", models.CharField(max_length=765)),
                ("namespace", models.CharField(max_length=200)),
                ("with_history", models.BooleanField(default=True)),
                ("added_at", models.DateTimeField()),
                (
                    "added_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "share",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="shared_schemas",
                        to="sharing.share",
                    ),
                ),
            ],
            options={
                "ordering": ["schema_key"],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("share", "schema_key"), name="shared_schema_unique_name"
                    )
                ],
            },
        ),
        migrations.AddField(
            model_name="sharedtable",
            name="from_schema",
            field=models.ForeignKey(
                blank=True,
                null=True,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="tables",
                to="sharing.sharedschema",
            ),
        ),
        migrations.CreateModel(
            name="UsedAssertion",
            fields=[
                (
                    "signed_sha256",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("ends_at", models.DateTimeField(db_index=True)),
            ],
        ),
        migrations.AddField(
            model_name="recipient",
            name="hard_limit_bytes",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="recipient",
            name="soft_limit_bytes",
            field=models.BigIntegerField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="recipienttoken",
            name="is_throw_away",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="Certificate",
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
                ("client", models.CharField(max_length=64)),
                ("client_version", models.CharField(blank=True, max_length=64)),
                ("version", models.BigIntegerField(blank=True, null=True)),
                ("num_rows", models.BigIntegerField(blank=True, null=True)),
                ("size_bytes", models.BigIntegerField(blank=True, null=True)),
                ("duration_s", models.FloatField()),
                ("is_equal", models.BooleanField(default=True)),
                ("error", models.TextField(blank=True)),
                ("remedy", models.TextField(blank=True)),
                ("rehearsed_at", models.DateTimeField()),
                ("passed_version", models.BigIntegerField(blank=True, null=True)),
                ("broken_version", models.BigIntegerField(blank=True, null=True)),
                (
                    "recipient",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="certificates",
                        to="sharing.recipient",
                    ),
                ),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="certificates",
                        to="sharing.sharedtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("recipient", "shared_table", "client"),
                        name="certificate_unique",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Hold",
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
                ("ends_at", models.DateTimeField()),
                ("made_at", models.DateTimeField()),
                (
                    "recipient",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holds",
                        to="sharing.recipient",
                    ),
                ),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="holds",
                        to="sharing.sharedtable",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("recipient", "shared_table"), name="hold_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="LastRead",
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
                ("read_at", models.DateTimeField()),
                (
                    "shared_table",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reads",
                        to="sharing.sharedtable",
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="reads",
                        to="sharing.recipienttoken",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("token", "shared_table"), name="last_read_unique"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ToldReminder",
            fields=[
                (
                    "told_sha256",
                    models.CharField(max_length=64, primary_key=True, serialize=False),
                ),
                ("told_at", models.DateTimeField(db_index=True)),
            ],
        ),
    ]
