from django.db import migrations, models
from django.db.models import F, Q


class Migration(migrations.Migration):
    dependencies = [("tables", "0013_health_findings")]

    operations = [
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(
                fields=["user_name", "-committed_at"], name="commit_by_user"
            ),
        ),
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(
                fields=["-committed_at"],
                name="commit_schema_changes",
                condition=Q(changes_schema=True),
            ),
        ),
        migrations.AddIndex(
            model_name="commit",
            index=models.Index(
                fields=["-committed_at"],
                name="commit_removes_rows",
                condition=Q(data_change=True)
                & (
                    Q(removed_rows__gt=F("added_rows"))
                    | Q(
                        added_rows__isnull=True,
                        num_removed_files__gt=F("num_added_files"),
                    )
                    | Q(
                        removed_rows__isnull=True,
                        num_removed_files__gt=F("num_added_files"),
                    )
                ),
            ),
        ),
    ]
