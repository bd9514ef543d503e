from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sharing", "0015_own_rotation"),
    ]

    operations = [
        migrations.AddField(
            model_name="share",
            name="with_field_ids",
            field=models.BooleanField(default=True),
        ),
    ]
