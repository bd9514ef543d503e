"""The services of accounts: users, passwords, sign-in links and API keys."""

from apps.accounts.services.addresses import (
    confirm_address,
    find_address_link,
    mail_sign_in,
    request_confirmation,
    send_account_mail,
    set_address,
    take_verified_address,
)
from apps.accounts.services.api_keys import (
    IssuedKey,
    issue_api_key,
    revoke_api_key,
)
from apps.accounts.services.passwords import sign_in
from apps.accounts.services.sign_in_links import (
    UNTIL_WITHDRAWN,
    find_sign_in_link,
    issue_sign_in_link,
    use_sign_in_link,
    user_of_link,
    withdraw_sign_in_link,
)
from apps.accounts.services.users import (
    change_password,
    checked_role,
    create_user,
    disable_user,
    enable_user,
    first_admin,
    set_appearance,
    set_role,
)

__all__ = [
    "UNTIL_WITHDRAWN",
    "IssuedKey",
    "change_password",
    "checked_role",
    "confirm_address",
    "create_user",
    "disable_user",
    "enable_user",
    "find_address_link",
    "find_sign_in_link",
    "first_admin",
    "issue_api_key",
    "issue_sign_in_link",
    "mail_sign_in",
    "request_confirmation",
    "revoke_api_key",
    "send_account_mail",
    "set_address",
    "set_appearance",
    "set_role",
    "sign_in",
    "take_verified_address",
    "use_sign_in_link",
    "user_of_link",
    "withdraw_sign_in_link",
]
