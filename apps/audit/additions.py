"""What the record adds: who notes what other apps report."""

from apps.audit.services import record_action
from apps.pages import actions

actions.recorders.register(record_action)
