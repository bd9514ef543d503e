"""What operations add to the pages of all apps: the changes of switches."""

from apps.operate import loading
from apps.operate.switches import guards
from apps.pages import frame
from apps.pages.changes.change import changes

changes.load_from("switch", "apps.operate.switches.changes")
loading.modules.register("apps.operate.doctor.own")
guards.begin()
frame.explain("operate", {"operate/operations/": "switch-list"})
