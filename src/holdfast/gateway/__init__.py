"""A proxy between agents and providers: it keeps what is said and lets no window overflow.

Read in this order: `tree_file`, `turns`, then what serves them; `tokens`, `tenants` and `gate` for
who may ask; `rest_models`, `api_route`, `rest_handlers`, `openapi` and `rest` for stored sessions.
"""
