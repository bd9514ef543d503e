from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tables", "0009_lakes")]

    operations = [
        migrations.AddField(
            model_name="storageconnection",
            name="failures",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="storageconnection",
            name="rests_until",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
