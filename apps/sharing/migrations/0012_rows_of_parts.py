from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0011_ends_of_earlier_urls")]

    operations = [
        migrations.AddField(
            model_name="preparedversion",
            name="num_rows",
            field=models.BigIntegerField(blank=True, null=True),
        ),
    ]
