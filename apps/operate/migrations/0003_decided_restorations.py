from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("operate", "0002_restorations"),
    ]

    operations = [
        migrations.AddField(
            model_name="restoration",
            name="compared",
            field=models.JSONField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="restoration",
            name="decided_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="restoration",
            name="decided_by",
            field=models.CharField(blank=True, default="", max_length=200),
            preserve_default=False,
        ),
    ]
