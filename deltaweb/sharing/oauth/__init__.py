"""The OAuth of recipients: signed claims, and the keys that verify them.

Source: RFC 6749, 7519, 7523, 9068; OpenID Connect Discovery 1.0.
"""
