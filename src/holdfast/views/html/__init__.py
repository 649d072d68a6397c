"""A session as one page that needs nothing else: for a browser, on any screen, without a network.

A transcript is what strangers and programs wrote, so that nothing of it reaches the page but
through `parts`. Read in this order: `parts`, `page`.
"""
