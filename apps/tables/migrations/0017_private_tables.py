"""Namespaces become rows, and tables that were restricted become private.

Editors saw a restricted table; only grants and administrators count for a private one.
The log of the migration says how many tables that are.
"""

import logging

import django.db.models.deletion
from django.apps.registry import Apps
from django.conf import settings
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.utils import timezone

log = logging.getLogger("deltaweb.tables")
BATCH = 500


def add_namespaces(apps: Apps, _: BaseDatabaseSchemaEditor) -> None:
    """Add an open namespace for each name that tables have."""
    tables = apps.get_model("tables", "Table").objects
    namespace = apps.get_model("tables", "Namespace")
    now = timezone.now()
    names = tables.order_by("namespace").values_list("namespace", flat=True).distinct()
    namespace.objects.bulk_create(
        [namespace(name=name, created_at=now) for name in names], batch_size=BATCH
    )
    if num_private := tables.filter(is_private=True).count():
        log.warning(
            "%d restricted tables are private now. Editors no longer see them: give "
            "rights with `deltaweb grant`.",
            num_private,
        )


class Migration(migrations.Migration):
    dependencies = [
        ("tables", "0016_muted_findings"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RenameField(
            model_name="table", old_name="restricted", new_name="is_private"
        ),
        migrations.AddField(
            model_name="table",
            name="is_listed",
            field=models.BooleanField(default=False),
        ),
        migrations.CreateModel(
            name="Namespace",
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
                ("name", models.CharField(max_length=200, unique=True)),
                ("description", models.TextField(blank=True)),
                ("is_private", models.BooleanField(default=False)),
                ("is_listed", models.BooleanField(default=False)),
                ("created_at", models.DateTimeField()),
                (
                    "owned_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="owned_namespaces",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "indexes": [
                    models.Index(
                        condition=models.Q(("is_private", True)),
                        fields=["name"],
                        name="namespace_private",
                    )
                ],
            },
        ),
        migrations.RunPython(add_namespaces, migrations.RunPython.noop),
    ]
