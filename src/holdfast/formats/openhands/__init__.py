"""OpenHands: reads its task outputs, its folders and the event log of its SDK."""
