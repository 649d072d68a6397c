"""The same work through other libraries, each in an environment of its own.

Only released code of the peers runs, from the package index; nothing of theirs is in this
repository. Read in this order: `environments`, `hermes_work`, `langchain_work`, `windows`,
`comparison`, `exam`, `continuity`, `hermes_store_work`, `store_tables`, `stores`, `gateway`.
"""
