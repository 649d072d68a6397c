"""Memory providers: vectors in a file, memory services, files that people edit."""
