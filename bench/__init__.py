"""Benchmarks: what holdfast costs and what it keeps, measured rather than asserted.

`python -m bench` runs all of them; `python -m bench.speed` runs one. Each module has a function
`run` that returns a `bench.report.Result`. Tables in `docs/benchmarks.md` and
`docs/reference/figures.md` come from runs only.
"""
