"""The changes of accounts: of users, of API keys and of how pages look.

Signing in and out, links that sign in and a user's own password stay views: they begin
and end sessions, which commands and API keys do not have.
"""
