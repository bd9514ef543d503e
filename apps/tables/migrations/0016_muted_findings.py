from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0015_repeated_operations")]

    operations = [
        migrations.AddField(
            model_name="storedfinding",
            name="muted_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
