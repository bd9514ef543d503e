"""Invitations of people whom a sign-on provider knows: list, page and changes."""
