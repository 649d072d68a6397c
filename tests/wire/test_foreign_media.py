"""Media is media in whichever shape a program holds it, and goes back in that shape."""

import pytest

import holdfast
from holdfast.tokens import IMAGE_TOKENS, Scale, load_of
from holdfast.transcript import Media, Message, Opaque, Role
from holdfast.wire import DIALECTS, Body
from holdfast.wire.foreign_media import read_foreign
from holdfast.wire.message_list import read_messages

PAYLOAD = "iVBORw0KGgo" + "A" * 400_000
URL = f"data:image/png;base64,{PAYLOAD}"
PICTURE = Media("image", "image/png", PAYLOAD)

IMAGES: dict[str, dict[str, object]] = {
    "image_url": {"type": "image_url", "image_url": {"url": URL, "detail": "low"}},
    "image_url as text": {"type": "image_url", "image_url": URL},
    "input_image": {"type": "input_image", "image_url": URL, "detail": "auto"},
    "input_image with an object": {"type": "input_image", "image_url": {"url": URL}},
    "anthropic": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD},
        "cache_control": {"type": "ephemeral"},
    },
    "anthropic with a field": {
        "type": "image",
        "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD, "made_up": 1},
    },
    "mcp": {"type": "image", "data": PAYLOAD, "mimeType": "image/png"},
    "gemini": {"inlineData": {"mimeType": "image/png", "data": PAYLOAD}},
    "gemini in snakes": {"inline_data": {"mime_type": "image/png", "data": PAYLOAD}},
}
REFERRED: dict[str, dict[str, object]] = {
    "image_url": {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    "image_url as text": {"type": "image_url", "image_url": "https://example.org/a.png"},
    "anthropic": {"type": "image", "source": {"type": "url", "url": "https://example.org/a.png"}},
    "input_image": {"type": "input_image", "image_url": "https://example.org/a.png"},
    "gemini": {"fileData": {"mimeType": "image/png", "fileUri": "https://example.org/a.png"}},
    "gemini in snakes": {
        "file_data": {"mime_type": "image/png", "file_uri": "https://example.org/a.png"}
    },
}
FILES: dict[str, dict[str, object]] = {
    "document": {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
    },
    "input_file": {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERi0="},
    "input_file by url": {"type": "input_file", "file_url": "https://example.org/a.pdf"},
    "file": {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERi0="}},
    "gemini": {"inlineData": {"mimeType": "application/pdf", "data": "JVBERi0="}},
}
DIALECT_NAMES = ["openai", "responses", "anthropic", "gemini"]


def said(dialect: str, part: dict[str, object]) -> dict[str, object]:
    """Return what a user said with the part in it, as a dialect writes it."""
    if dialect == "gemini":
        return {"role": "user", "parts": [{"text": "see"}, part]}
    kind = "input_text" if dialect == "responses" else "text"
    return {"role": "user", "content": [{"type": kind, "text": "see"}, part]}


def answered(dialect: str, part: dict[str, object]) -> list[dict[str, object]]:
    """Return a call and its result with the part in it, as a dialect writes them."""
    name = {"name": "look"}
    match dialect:
        case "openai":
            call = {"id": "c", "type": "function", "function": {**name, "arguments": "{}"}}
            return [
                {"role": "assistant", "content": None, "tool_calls": [call]},
                {"role": "tool", "tool_call_id": "c", "content": [part]},
            ]
        case "responses":
            return [
                {"type": "function_call", "call_id": "c", **name, "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c", "output": [part]},
            ]
        case "anthropic":
            use = {"type": "tool_use", "id": "c", **name, "input": {}}
            result = {"type": "tool_result", "tool_use_id": "c", "content": [part]}
            return [
                {"role": "assistant", "content": [use]},
                {"role": "user", "content": [result]},
            ]
        case _:
            response = {**name, "response": {"output": "x"}, "parts": [part]}
            return [
                {"role": "model", "parts": [{"functionCall": {**name, "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": response}]},
            ]


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
@pytest.mark.parametrize("part", [*IMAGES.values(), *REFERRED.values()])
def test_an_image_is_one_in_every_list_and_comes_back(
    dialect: str, part: dict[str, object]
) -> None:
    messages = [said(dialect, part), *answered(dialect, part)]
    transcript = DIALECTS[dialect].decode(Body(messages))
    load = load_of(transcript, Scale())
    assert load.images == 2
    assert load.tokens < 2 * IMAGE_TOKENS + 100
    assert DIALECTS[dialect].encode(transcript).messages == messages


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
@pytest.mark.parametrize("part", FILES.values())
def test_a_file_is_no_text_in_any_list_and_comes_back(
    dialect: str, part: dict[str, object]
) -> None:
    messages = [said(dialect, part)]
    (message,) = DIALECTS[dialect].decode(Body(messages))
    (media,) = [each for each in message.parts if isinstance(each, Media)]
    assert media.kind == "file"
    assert DIALECTS[dialect].encode((message,)).messages == messages


@pytest.mark.parametrize("part", IMAGES.values())
def test_an_image_moves_to_every_provider(part: dict[str, object]) -> None:
    (message,) = DIALECTS["openai"].decode(Body([said("openai", part)]))
    for name in ("responses", "anthropic", "gemini"):
        body = DIALECTS[name].encode((message,))
        assert DIALECTS[name].validate(body) == ()
        (there,) = DIALECTS[name].decode(body)
        (media,) = [each for each in there.parts if isinstance(each, Media)]
        assert (media.media_type, media.data) == (PICTURE.media_type, PICTURE.data)


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
@pytest.mark.parametrize("part", IMAGES.values())
def test_old_images_leave_the_window(dialect: str, part: dict[str, object]) -> None:
    words = "It was a long afternoon of work on the billing service. " * 40
    texts: list[dict[str, object]] = []
    for _ in range(40):
        for role, text in (("user", words), ("model", "Done.")):
            if dialect == "gemini":
                texts.append({"role": role, "parts": [{"text": text}]})
            else:
                texts.append({"role": role.replace("model", "assistant"), "content": text})
    messages = [said(dialect, part), *answered(dialect, part), *texts, said(dialect, part)]
    assert holdfast.estimate_tokens(messages, format=dialect) < 40_000
    compressor = holdfast.Compressor(context_length=200_000, protect_first_n=4, max_images=2)
    assert compressor.should_compress(messages, format=dialect)
    result = compressor.compress(messages, format=dialect, force=True)
    left = read_messages(result.messages, dialect).transcript
    assert load_of(left, Scale()).images == 1
    assert result.messages[-1] == messages[-1]


def test_a_sound_knows_its_format() -> None:
    part: dict[str, object] = {
        "type": "input_audio",
        "input_audio": {"data": "UklGRg==", "format": "wav"},
    }
    sound = read_foreign(part, "responses")
    assert sound is not None
    assert (sound.kind, sound.media_type, sound.data) == ("audio", "audio/wav", "UklGRg==")
    assert DIALECTS["openai"].encode((Message(Role.USER, (sound,)),)).messages == [
        {"role": "user", "content": [part]}
    ]


def test_words_that_stand_in_a_document_stay_words() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "read me"}
    assert read_foreign({"type": "document", "source": source}, "openai") is None
    assert read_foreign({"type": "text", "text": "x"}, "openai") is None


def test_an_envelope_is_opened_and_closed() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    envelope = {
        "_multimodal": True,
        "content": [{"type": "text", "text": "a window"}, IMAGES["image_url"]],
        "text_summary": "a window",
    }
    messages: list[dict[str, object]] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": envelope},
    ]
    transcript = DIALECTS["openai"].decode(Body(messages))
    assert load_of(transcript, Scale()).images == 1
    assert holdfast.estimate_tokens(messages) < IMAGE_TOKENS + 100
    assert DIALECTS["openai"].encode(transcript).messages == messages


def test_images_inside_items_of_a_provider_are_weighed_as_images() -> None:
    for value in (
        {"type": "computer_screenshot", "image_url": URL},
        {"type": "image_generation_call", "result": PAYLOAD},
    ):
        message = Message(Role.ASSISTANT, (Opaque("responses", value),))
        load = load_of((message,), Scale())
        assert load.images == 1
        assert load.tokens < IMAGE_TOKENS + 50
        assert load.bytes > len(PAYLOAD)
