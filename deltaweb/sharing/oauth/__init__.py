"""OAuth of recipients as values: claims that are signed, the keys that check them.

Source: RFC 6749, 7519, 7523, 9068; OpenID Connect Discovery 1.0.
"""
