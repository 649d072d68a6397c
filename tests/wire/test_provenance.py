"""Labels of synthetic messages are written to files, read from them, and sent to no provider."""

import json

import pytest

from holdfast.formats import read, write
from holdfast.transcript import Message, Role, Summary, Synthetic, Text
from holdfast.wire import DIALECTS, Body
from holdfast.wire.provenance import LABEL, MASKS, label_of, labelled, written_labels

NAMES = ("openai", "anthropic", "sharegpt")
NOTE = labelled(
    Message(Role.USER, (Text("go on"),), synthetic=Synthetic.NOTE), synthetic="note", origin="host"
)
GUESS = labelled(Message(Role.ASSISTANT, (Text("maybe"),)), synthetic="summary", partial=True)
REPLY = labelled(Message(Role.ASSISTANT, (Text("done"),)), repeated=True, masked=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_label_is_read_back_and_says_what_is_synthetic(name: str) -> None:
    transcript = (NOTE, GUESS, NOTE, REPLY)
    body = DIALECTS[name].encode(written_labels(transcript, name))
    assert [message[LABEL] for message in body.messages] == [
        {"synthetic": "note", "origin": "host"},
        {"synthetic": "summary", "partial": True},
        {"synthetic": "note", "origin": "host"},
        {"repeated": True, "masked": True},
    ]
    assert DIALECTS[name].decode(body) == transcript


@pytest.mark.parametrize("name", DIALECTS)
def test_no_provider_gets_a_label(name: str) -> None:
    sent = DIALECTS[name].encode((NOTE, REPLY))
    assert LABEL not in json.dumps(sent.messages)
    labels = DIALECTS[name].encode(written_labels((NOTE, REPLY), name))
    assert DIALECTS[name].encode(DIALECTS[name].decode(labels)) == sent


@pytest.mark.parametrize(("name", "mask"), MASKS.items())
def test_a_masked_reply_carries_what_trainers_read(name: str, mask: dict[str, object]) -> None:
    (written,) = DIALECTS[name].encode(written_labels((REPLY,), name)).messages
    assert written.items() >= mask.items()


def test_only_replies_are_masked() -> None:
    asked = labelled(NOTE, masked=True)
    (written,) = DIALECTS["openai"].encode(written_labels((asked,), "openai")).messages
    assert "weight" not in written


def test_a_weight_that_is_not_ours_stays_where_it_is() -> None:
    raw: dict[str, object] = {"role": "assistant", "content": "done", "weight": 0}
    (message,) = DIALECTS["openai"].decode(Body([raw]))
    assert message.extras == {"openai": {"weight": 0}}


@pytest.mark.parametrize("name", NAMES)
def test_a_file_that_is_written_back_keeps_its_labels(name: str) -> None:
    record = Message(Role.USER, (Summary("what was said"),), synthetic=Synthetic.SUMMARY)
    shown = (labelled(record, synthetic="summary", model="gpt-5"), REPLY)
    body = DIALECTS[name].encode(written_labels(shown, name))
    key = "conversations" if name == "sharegpt" else "messages"
    text = json.dumps({"id": "20261116_093000_4d715f", key: body.messages})
    document = read(text, format=name)
    assert [label_of(each) for each in document.transcript] == [label_of(each) for each in shown]
    assert document.transcript[0].synthetic is Synthetic.SUMMARY
    assert write(document, document.transcript) == text
