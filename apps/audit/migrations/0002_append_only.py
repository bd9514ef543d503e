from django.db import migrations

from deltaweb.web.audit.append_only import create_triggers, drop_triggers


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial")]
    operations = [
        migrations.RunPython(
            lambda _, editor: create_triggers(editor.connection),
            lambda _, editor: drop_triggers(editor.connection),
        )
    ]
