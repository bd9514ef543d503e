from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("audit", "0005_rows_of_offers")]

    operations = [
        migrations.AlterField(
            model_name="auditevent",
            name="kind",
            field=models.CharField(
                choices=[
                    ("CALL", "call"),
                    ("ACTIVATION", "activation"),
                    ("CHANGE", "change"),
                    ("REHEARSAL", "rehearsal"),
                ],
                max_length=16,
            ),
        ),
    ]
