"""The additions of operations to the pages of all apps: changes of administrators."""

from django.db.backends.signals import connection_created

from apps.operate import loading
from apps.operate.switches import guards
from apps.pages import frame
from apps.pages.changes.change import changes
from deltaweb.environment.outages import DATABASE, outages


def note_database(**_: object) -> None:
    """Note that the database answers."""
    outages.ended(DATABASE)


changes.load_from("switch", "apps.operate.switches.changes")
changes.load_from("restored", "apps.operate.restored.changes")
loading.modules.register("apps.operate.doctor.own")
guards.begin()
connection_created.connect(note_database, dispatch_uid="outages")
frame.explain(
    "operate", {"operate/operations/": "switch-list", "operate/move/": "restored"}
)
