"""Sending: signed requests to webhooks, and mails to people."""
