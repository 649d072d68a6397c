"""View models: what a store holds as plain values and as JSON, for every surface that shows it.

The command line, pages and servers draw what these modules return; nothing here knows a terminal,
a request or a setting, and what a view needs to know of those is passed to it. Read in this order:
`words`, `messages`, `sessions`, `context_map`, `timeline`, `inspection`, `search`, `markdown`,
`html`, `export`.
"""
