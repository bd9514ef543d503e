"""The rights of a user on tables that were read; `models.rights` has the meanings."""

from apps.tables.models.rights import EDIT as EDIT
from apps.tables.models.rights import MANAGE as MANAGE
from apps.tables.models.rights import OWN as OWN
from apps.tables.models.rights import SHARE as SHARE
from apps.tables.models.rights import VIEW as VIEW
from apps.tables.permissions.by_stamp import caller_of as caller_of
from apps.tables.permissions.by_stamp import closed_namespaces as closed_namespaces
from apps.tables.permissions.by_stamp import give_own as give_own
from apps.tables.permissions.by_stamp import require_by as require_by
from apps.tables.permissions.by_stamp import require_in_by as require_in_by
from apps.tables.permissions.checks import may as may
from apps.tables.permissions.checks import note_rights as note_rights
from apps.tables.permissions.checks import require as require
from apps.tables.permissions.checks import rights as rights
from apps.tables.permissions.people import people_with as people_with
from apps.tables.permissions.refusals import RightRequiredError as RightRequiredError
from apps.tables.permissions.refusals import unknown_table as unknown_table
from apps.tables.permissions.spaces import may_in as may_in
from apps.tables.permissions.spaces import require_in as require_in
from apps.tables.permissions.why import Reason as Reason
from apps.tables.permissions.why import why as why
