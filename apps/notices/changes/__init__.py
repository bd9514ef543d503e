"""What people change of what they follow, and of webhooks."""
