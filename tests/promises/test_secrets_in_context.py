"""A secret that is known by what stands around it never reaches a summary without it."""

import pytest

import holdfast
from tests.promises.conversations import step, system, user

VALUE = "Zx9_kWq7Lm_vault2"
SHAPES = [
    f"DB_PASSWORD={VALUE}",
    f"export API_SECRET='{VALUE}'",
    f'{{"client_secret": "{VALUE}"}}',
    f"password: {VALUE}",
    f"Authorization: Bearer {VALUE}",
    f"curl -u admin:{VALUE} https://example.org/x",
    f"mysql -u root -p{VALUE} app",
    f"tool --password {VALUE}",
]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("knobs", [{"context_length": 8_000}, {"fit": 1_500}])
def test_a_value_is_not_listed_without_its_key(shape: str, knobs: dict[str, int]) -> None:
    assert VALUE not in holdfast.redact(shape)
    messages = [system(), user("Set the service up."), *step("k", "cat .env", shape)]
    messages += [user(f"and here: {shape}"), {"role": "assistant", "content": f"I saw {shape}"}]
    for number in range(40):
        messages += step(f"c{number}", f"make part{number}", f"built part {number}\n" * 60)
    messages.append(user("go on"))
    result = holdfast.compress(messages, **knobs)  # type: ignore[arg-type]
    assert result.report.outcome in {"folded", "pruned_only"}
    derived = [m for m in result.messages if m not in messages]
    assert derived
    assert all(VALUE not in str(message) for message in derived)


def test_the_lines_of_a_private_key_are_not_listed_as_names() -> None:
    body = "\n".join("MIIEvQ" + letter * 58 for letter in "AbC")
    key = f"-----BEGIN PRIVATE KEY-----\n{body}\n-----END PRIVATE KEY-----"
    messages = [system(), user("Look."), *step("k", "cat key.pem", key)]
    for number in range(40):
        messages += step(f"c{number}", f"make part{number}", f"built part {number}\n" * 60)
    messages.append(user("go on"))
    result = holdfast.compress(messages, context_length=8_000, protect_first_n=0)
    derived = str([m for m in result.messages if m not in messages])
    assert not any(line in derived for line in body.split("\n"))
