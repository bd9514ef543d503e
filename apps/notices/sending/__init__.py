"""The sending of signed requests to webhooks, and of mails to people."""
