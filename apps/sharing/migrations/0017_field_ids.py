from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("sharing", "0016_mail_sign_in"),
    ]

    operations = [
        migrations.AddField(
            model_name="share",
            name="with_field_ids",
            field=models.BooleanField(default=True),
        ),
    ]
