from django.db import migrations

from deltaweb.web.audit.append_only import create_triggers


class Migration(migrations.Migration):
    """Make the triggers anew: on SQLite they refuse REPLACE, too."""

    dependencies = [("audit", "0002_append_only")]
    operations = [
        migrations.RunPython(
            lambda _, editor: create_triggers(editor.connection),
            migrations.RunPython.noop,
        )
    ]
