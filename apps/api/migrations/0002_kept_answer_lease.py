import django.utils.timezone
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("api", "0001_kept_answers"),
    ]

    operations = [
        migrations.AddField(
            model_name="keptanswer",
            name="leased_until",
            field=models.DateTimeField(default=django.utils.timezone.now),
        ),
    ]
