"""The credentials of recipients: tokens, activation links and rotation."""
