"""What query strings and forms of sharing may say: shape only, no database."""
