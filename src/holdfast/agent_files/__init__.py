"""Other agents' files on this machine: where they are, what they are, and what they tell.

Read in this order: `files`, `finding`, `places`, `detection`, `databases`.
"""
