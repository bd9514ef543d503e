"""Credentials of recipients: tokens, the links they are fetched by, their rotation."""
