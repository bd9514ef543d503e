from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sharing", "0002_grants_by_rows_and_columns_squashed_0009_told_reminders"),
    ]

    operations = [
        migrations.AddField(
            model_name="preparedfile",
            name="kind",
            field=models.CharField(blank=True, max_length=6),
        ),
    ]
