from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0017_field_ids")]

    operations = [
        migrations.AddField(
            model_name=model, name="plain", field=models.BooleanField(default=False)
        )
        for model in ("share", "sharedtable", "recipient")
    ] + [
        migrations.AddField(
            model_name="preparedfile",
            name="is_stored",
            field=models.BooleanField(default=False),
        )
    ]
