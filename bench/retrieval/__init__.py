"""Retrieval: does a search for a question bring back the turns that answer it?

Conversations in the shape of LoCoMo are written into a real store, each question is searched as it
stands, and the turns named as its evidence are looked for among the results. No model is asked.

Where the exam's sessions are, `passages` searches inside each for the exam's questions: one call,
and the answer is in what came back or it is not.

Read in this order: `samples`, `passages`, `measure`. `python -m bench.retrieval [file ...]`
runs it on any files in that shape; without files it runs on the conversations of this folder, which
were written for it in eight languages.
"""

from bench.retrieval.measure import run

__all__ = ["run"]
