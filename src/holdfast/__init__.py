"""The context layer under an agent: endless conversations in a finite window."""
