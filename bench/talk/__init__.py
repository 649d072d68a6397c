"""Talk: of conversations without tools, what is left to answer questions with?

Conversations of two public benchmarks of memory are brought to 10, 20 and 45 % of their characters,
without a model. The score is the share of questions whose evidence still stands in the window; when
it does is defined in `questions`, with its weakness. The plain tail is the measure of all others:
evidence lies anywhere, so it keeps about as large a share of it as of the characters.

Read in this order: `words`, `questions`, `conversations`, `policies`, `measure`.
`python -m bench.talk` runs it. The conversations are not part of the repository.
"""

from bench.talk.measure import run

__all__ = ["run"]
