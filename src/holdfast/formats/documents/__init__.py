"""Providers' documents: request bodies and lists of messages, in any container."""
