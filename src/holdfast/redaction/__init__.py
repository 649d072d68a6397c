"""Redaction: the boundary that no secret crosses on its way to a summary, a log or an export.

Read in this order: `redactor` joins the passes, `survey` makes them fast, `sites` finds names
with values, and each remaining module holds the passes of one theme.
"""

from holdfast.redaction.redactor import Redactor, redact

__all__ = ["Redactor", "redact"]
