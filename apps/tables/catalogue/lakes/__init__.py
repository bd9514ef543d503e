"""Lakes: folders and URLs whose tables are registered, again and again."""
