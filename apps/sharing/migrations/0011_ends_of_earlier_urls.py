from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sharing", "0010_what_changes_are_files_of")]

    operations = [
        migrations.AddField(
            model_name="recipient",
            name="earlier_urls_end_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.AddField(
            model_name="sharedtable",
            name="earlier_urls_end_at",
            field=models.DateTimeField(blank=True, null=True),
        ),
    ]
