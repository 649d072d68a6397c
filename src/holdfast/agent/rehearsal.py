"""The words of a short conversation that shows what holdfast does, for people without one.

It plants facts early, says enough to fill a small window, and asks for the facts at the end.
"""

from __future__ import annotations

__all__ = ["FACTS", "PROMPT", "REHEARSAL", "WINDOW"]

WINDOW = 1_200
"""Tokens of a window that these words fill, so that one sees it being compacted."""

PROMPT = "You are a helpful assistant for a small software project. Answer briefly."

FACTS = ("Marta Lindqvist", "8443", "/srv/harbor/config/tides.toml", "one sentence")
"""What the conversation must still know at its end."""

REHEARSAL = (
    "Hello. My name is Marta Lindqvist, and I look after the harbor service. From now on always "
    "answer in one sentence.",
    "The harbor service listens on port 8443. Please remember that, because the old port was "
    "taken by the metrics exporter last week, and half of our notes still name the old one.",
    "Its settings are in /srv/harbor/config/tides.toml. The file holds the list of tide stations, "
    "the intervals and the address of the database.",
    "The service reads the water level of every station once a minute, averages it over ten "
    "minutes and stores the result. Most stations are on the river, three are out on the "
    "breakwater and two belong to the lock. The ones on the breakwater lose their radio link in "
    "every storm, which is exactly when people want to know. What could go wrong when a station "
    "sends nothing for an hour?",
    "We decided to mark such a station as silent after thirty minutes and to leave it out of the "
    "average. Before that, the service repeated the last value it had, and the curve on the "
    "dashboard looked calm while the water rose. The lock keepers noticed it from the window, and "
    "nobody was pleased. Why is leaving it out better than repeating its last value?",
    "Two stations report in feet and the rest in meters. The reader converts feet to meters before "
    "it averages. Somebody once fixed the factor by hand in the database, so that the oldest rows "
    "are still wrong by a little, and we keep a list of them next to the export. What should a "
    "test for that conversion check?",
    "The dashboard shows the last twenty-four hours and refreshes every five minutes. People on "
    "slow phones complain that it loads too much: every point of every station, a map, and a "
    "picture of the harbor from the year it was opened. Name one thing we could leave out without "
    "anybody missing it on a working day.",
    "Last night the database was unreachable for four minutes, and the reader kept the values in "
    "memory until it came back. That went well, but nobody knows what happens when it takes four "
    "hours instead, for example when the disk is replaced. There are sixty stations and one value "
    "a minute from each. How large may that buffer become?",
    "We also want an alarm when the level rises by more than half a meter in an hour. It should "
    "ring once and not every minute, and somebody must be able to say that it was seen. The "
    "harbor office sleeps at night, the lock keepers do not. Who should be told first?",
    "Now the newest task: write the release note for version 2.7, which brings the alarm and the "
    "silent stations. On which port does the service listen, and where are its settings?",
)
"""What the user says, turn by turn."""
