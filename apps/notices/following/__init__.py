"""The events that people and webhooks are told of."""
