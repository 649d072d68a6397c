"""Grok CLI: reads the folders of its sessions."""
