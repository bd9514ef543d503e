from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_api_key_scopes_and_ends"),
    ]

    operations = [
        migrations.AddField(
            model_name="signinlink",
            name="is_one_click",
            field=models.BooleanField(default=False),
        ),
    ]
