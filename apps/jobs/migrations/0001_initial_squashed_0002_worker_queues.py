import django.db.models.deletion
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    replaces = [("jobs", "0001_initial"), ("jobs", "0002_worker_queues")]

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Job",
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
                ("kind", models.CharField(max_length=64)),
                ("subject_id", models.UUIDField(blank=True, db_index=True, null=True)),
                ("title", models.CharField(max_length=300)),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("key", models.CharField(blank=True, max_length=200)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("QUEUED", "queued"),
                            ("RUNNING", "running"),
                            ("DONE", "done"),
                            ("FAILED", "failed"),
                            ("CANCELLED", "cancelled"),
                        ],
                        default="QUEUED",
                        max_length=16,
                    ),
                ),
                ("step", models.CharField(blank=True, max_length=200)),
                ("progress_done", models.BigIntegerField(default=0)),
                ("progress_total", models.BigIntegerField(blank=True, null=True)),
                ("progress_unit", models.CharField(blank=True, max_length=32)),
                ("steps", models.JSONField(blank=True, default=list)),
                ("counters", models.JSONField(blank=True, default=dict)),
                ("log", models.TextField(blank=True)),
                ("created_at", models.DateTimeField()),
                ("woken_at", models.DateTimeField(blank=True, null=True)),
                ("started_at", models.DateTimeField(blank=True, null=True)),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveSmallIntegerField(default=0)),
                ("lease_owner", models.CharField(blank=True, max_length=200)),
                ("lease_expires_at", models.DateTimeField(blank=True, null=True)),
                ("cancel_requested_at", models.DateTimeField(blank=True, null=True)),
                ("error_code", models.CharField(blank=True, max_length=64)),
                ("error", models.TextField(blank=True)),
                ("error_hint", models.TextField(blank=True)),
                ("error_detail", models.TextField(blank=True)),
                ("result", models.JSONField(blank=True, null=True)),
                (
                    "requested_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-created_at"],
                "indexes": [
                    models.Index(
                        fields=["state", "created_at"], name="job_state_created"
                    ),
                    models.Index(fields=["-created_at"], name="job_newest_first"),
                    models.Index(
                        fields=["kind", "-created_at"], name="job_kind_newest"
                    ),
                    models.Index(fields=["key"], name="job_key"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(
                            ("state__in", ["QUEUED", "RUNNING"]),
                            models.Q(("key", ""), _negated=True),
                        ),
                        fields=("key",),
                        name="job_one_active_a_key",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Worker",
            fields=[
                (
                    "name",
                    models.CharField(max_length=200, primary_key=True, serialize=False),
                ),
                ("started_at", models.DateTimeField()),
                ("seen_at", models.DateTimeField(db_index=True)),
                ("queues", models.JSONField(blank=True, default=list)),
            ],
        ),
    ]
