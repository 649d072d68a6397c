"""Sixty turns about a harbor service: facts at the beginning, a task at the end, talk between."""

PROMPT = "You are a helpful assistant for a small software project. Answer briefly."

NAME = "Marta Lindqvist"
PORT = "8443"
PATH = "/srv/harbor/config/tides.toml"
RULE = "always answer in one sentence"
TASK = "write the release note for version 2.7"

_FACTS = (
    f"Hello. My name is {NAME}, and I look after the harbor service.",
    f"From now on {RULE}.",
    f"The harbor service listens on port {PORT}. The old port belongs to the metrics exporter now.",
    f"Its settings are in {PATH}, with the list of tide stations and the address of the database.",
)
_SUBJECTS = (
    "the reader that asks every tide station for its water level once a minute",
    "the average over ten minutes that goes into the database",
    "the dashboard with the last day of water levels for the lock keepers",
    "the alarm that rings when the water rises by half a meter in an hour",
    "the nightly export for the weather office, a plain table of numbers",
    "the two old stations that report in feet while all others use meters",
    "the buffer in memory for minutes in which the database cannot be reached",
    "the page that shows which stations have been silent for half an hour",
)
_QUESTIONS = (
    "I looked at {} this morning. What would you test first, and why that before all the rest?",
    "Yesterday somebody complained about {}. What could have gone wrong there, in your opinion?",
    "We want to make {} simpler. Which part of it could we leave out without anybody noticing?",
    "A new colleague will work on {} from Monday on. What should she read before she begins?",
    "Think about {} for a moment. What happens to it when a clock on the server is wrong?",
    "The office asked what {} costs us in a year. How would you estimate that without measuring?",
    "Suppose that {} fails on a Sunday night. Who notices it first, and how long does that take?",
)
_REMARKS = (
    "The lock keepers would like to hear about it before the end of the week, if at all possible.",
    "I have drawn a small picture of it on the board next to the coffee machine in our office.",
    "It has worked well enough since spring, so I am in no hurry and would rather understand it.",
    "The last person who touched it has moved to another team and left us three pages of notes.",
    "Nobody has looked at it since the storm in autumn, when half of the stations lost power.",
)
_ASIDES = (
    "By the way, the rain has stopped, and the boats that waited in the outer basin can leave now.",
    "Besides, the people from the museum want to see the old tide gauge again, as every summer.",
    "Meanwhile the crane on the north quay is being painted, so expect some noise on the phone.",
)
_TALK = tuple(
    f"{question.format(subject)} {_REMARKS[(first + second) % 5]} {_ASIDES[(first + second) % 3]}"
    for first, question in enumerate(_QUESTIONS)
    for second, subject in enumerate(_SUBJECTS)
)

TURNS = (
    *_FACTS,
    *_TALK[: 60 - len(_FACTS) - 1],
    f"Now the newest task: {TASK}, with the alarm and the silent stations in it.",
)
"""What the user says, turn by turn."""
