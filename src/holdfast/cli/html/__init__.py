"""A session as one page that needs nothing else: for a browser, on any screen, without a network.

A transcript is what strangers and programs wrote, so that nothing of it reaches the page but
through `escape`. Read in this order: `escape`, `prose`, `media`, `parts`, `happenings`, `survey`,
`context_map`, `head`, `page`.
"""

from holdfast.cli.html.context_map import Limits
from holdfast.cli.html.head import Family
from holdfast.cli.html.page import Page, html_pieces
from holdfast.cli.html.survey import Survey, Weighed, survey_of, weighed

__all__ = ["Family", "Limits", "Page", "Survey", "Weighed", "html_pieces", "survey_of", "weighed"]
