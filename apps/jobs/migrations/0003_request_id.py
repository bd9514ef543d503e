from django.db import migrations, models

import deltaweb.environment.logs


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial_squashed_0002_worker_queues")]

    operations = [
        # Existing jobs have no request. Only new jobs get the default.
        migrations.AddField(
            model_name="job",
            name="request_id",
            field=models.CharField(blank=True, default="", max_length=64),
        ),
        migrations.AlterField(
            model_name="job",
            name="request_id",
            field=models.CharField(
                blank=True,
                default=deltaweb.environment.logs.requested_by_id,
                max_length=64,
            ),
        ),
    ]
