"""Recipients: their list, their page, their settings, and what is granted to them."""
