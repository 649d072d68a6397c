import pytest

from holdfast.summary.claims import is_standing_rule
from holdfast.summary.cues import (
    APPROVAL_CLAIM,
    ASK_CLAIM,
    CONSENT,
    CONSTRAINT,
    is_acknowledgement,
    is_decision,
    is_question,
)
from holdfast.summary.wording import words_in


@pytest.mark.parametrize(
    "sentence",
    [
        "Never touch the schema.",
        "Bitte niemals die Datenbank ändern.",
        "Ne modifie jamais le schéma.",
        "No uses tabuladores.",
        "Não altere o esquema.",
        "Никогда не трогай схему.",
        "不要修改数据库",
        "スキーマは必ず残してください",
        "스키마는 절대 바꾸지 마세요",
    ],
)
def test_rules_are_recognized_in_many_languages(sentence: str) -> None:
    assert CONSTRAINT.stands_in(sentence, words_in(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        "We decided to use PostgreSQL.",
        "Ich habe mich für SQLite entschieden.",
        "J'ai choisi SQLite plutôt que Redis.",
        "Uso SQLite en lugar de Redis.",
        "Escolhi SQLite em vez de Redis.",
        "Решено: используем SQLite.",
        "我们决定使用 SQLite",
        "SQLite を採用します",
        "SQLite를 사용하기로 했습니다",
    ],
)
def test_decisions_are_recognized_in_many_languages(sentence: str) -> None:
    assert is_decision(sentence)


@pytest.mark.parametrize(
    "entry",
    [
        "The user explicitly approved the deployment",
        "Approved by the user",
        "Deployed after the user's approval",
        "Der Nutzer hat das Löschen genehmigt",
        "L'utilisateur a approuvé",
        "El usuario ha aprobado el cambio",
        "Пользователь явно одобрил удаление",
        "用户已经同意删除",
        "ユーザーが承認した",
        "사용자가 승인함",
    ],
)
def test_claims_of_approval_are_recognized_in_many_languages(entry: str) -> None:
    assert APPROVAL_CLAIM.search(entry)


def test_other_sentences_are_neither() -> None:
    assert not CONSTRAINT.stands_in("The build is green", words_in("The build is green"))
    assert not is_standing_rule("Should we never do that?")
    assert not is_decision("The build is green")
    assert not APPROVAL_CLAIM.search("Added a user approval flow")
    assert not ASK_CLAIM.search("The users table has three columns")
    assert ASK_CLAIM.search("用户要求部署")
    assert CONSENT.search("好的")
    assert not CONSENT.search("look at this")


@pytest.mark.parametrize(
    "words", ["Good decision. Keep it that way.", "ok, thanks!", "Perfect", "谢谢", "Danke dir"]
)
def test_an_acknowledgement_asks_nothing(words: str) -> None:
    assert is_acknowledgement(words)


@pytest.mark.parametrize(
    "words",
    ["yes", "Good, now deploy it", "Great. Is it done?", "fix the parser", "Nice " + "x" * 60],
)
def test_consent_and_requests_are_no_acknowledgements(words: str) -> None:
    assert not is_acknowledgement(words)


def test_questions_end_like_questions() -> None:
    assert all(map(is_question, ["why?", "可以吗", "なぜですか"]))
    assert not is_question("done.")


def test_the_query_of_an_address_asks_nothing() -> None:
    assert not is_question("The tides are at https://mill.example/tides?y=2027.")
    assert is_question("Are the tides at https://mill.example/tides?y=2027?")
