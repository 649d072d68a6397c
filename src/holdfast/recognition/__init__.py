"""Which conversation a request goes on with, told from what it says.

Read in this order: `atoms`, `slices`, `request`, `tree`, `matching`.
"""
