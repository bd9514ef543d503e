"""What the record adds: who notes what other apps report."""

from deltaweb.web.audit.services import record_action
from deltaweb.web.pages import actions

actions.recorders.register(record_action)
