"""The exam: what can still be answered from the window alone, after a compaction?

Four real sessions stand at the point where their agent compacted. Somebody who had read all of one
wrote questions that whoever goes on must be able to answer: about the goal, what is done, the
state, decisions, constraints, exact values and what is open. Every policy builds a window from the
messages, and each question is looked up in it by its keys. No model takes part.

Read in this order: `sittings`, `policies`, `measure`. `python -m bench.exam` runs it;
`--windows FOLDER` also writes each window to `FOLDER/<policy>/<session>.txt`, for readers and for
the examiners' own script. Questions and sessions are not part of the repository.
"""

from bench.exam.measure import run

__all__ = ["run"]
