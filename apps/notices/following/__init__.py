"""The events that people and webhooks receive."""
