import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.summary import cues
from holdfast.summary.claims import UserClaim, claim_in
from holdfast.summary.cues import (
    CHOSEN,
    CONSENT,
    DEFERS,
    DONE,
    LEFT,
    RECONSIDERS,
    REPLACES,
    SETTLED,
    Wording,
    contradicts,
    given_value,
    is_acknowledgement,
    is_decision,
    is_question,
    is_said_of,
    is_standing_rule,
    is_value,
    words_in,
)

CLAIMS = [each for name, each in vars(cues).items() if name[0] == "_" and isinstance(each, Wording)]
ALL = (*CLAIMS, CHOSEN, SETTLED, DEFERS, DONE, LEFT, RECONSIDERS, REPLACES)
ASCII = st.characters(max_codepoint=127)


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
    assert is_standing_rule(sentence)


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
    "sentence",
    [
        "I'll use SQLite because it needs no server.",
        "Instead of a queue we use a table.",
        "Kept the old signature because the plugins call it.",
        "Wir nehmen SQLite statt Redis.",
        "On garde SQLite parce qu'il suffit.",
        "Usamos SQLite porque basta.",
        "Usamos uma fila em vez de uma tabela.",
        "Используем SQLite вместо Redis.",
        "我们使用 SQLite 而不是 Redis",
        "Redis ではなく SQLite を使います",
        "Redis 대신 SQLite를 사용합니다",
    ],
)
def test_who_chooses_and_says_against_what_or_why_decides(sentence: str) -> None:
    assert is_decision(sentence)
    assert not is_decision(sentence, outright=True)


@pytest.mark.parametrize(
    "sentence",
    [
        "The pump runs warm because its filter is full.",
        "`fill` keeps the spaces rather than trimming them.",
        "The test returns None instead of a list.",
        "I bet the second pump uses the old valve instead of the new one.",
        "Maybe we use a table instead of a queue.",
        "If we keep the table because of the index, the writer waits.",
        "We have not decided yet.",
        "Should we go with SQLite?",
        "Die Pumpe steht, weil der Filter voll ist.",
        "Vielleicht nehmen wir SQLite statt Redis.",
        "La pompe s'arrête parce que le filtre est plein.",
        "La bomba usa agua en lugar de aceite.",
        "Насос стоит, потому что фильтр полон.",
        "泵停了，因为过滤器满了",
        "SQLite を採用するかもしれません",
        "필터가 가득 찼기 때문에 멈췄습니다",
    ],
)
def test_findings_guesses_and_contrasts_decide_nothing(sentence: str) -> None:
    assert not is_decision(sentence)


@pytest.mark.parametrize(
    "words",
    [
        "no, both are dark",
        "nope",
        "na, let's try it",
        "That's wrong.",
        "i undid your changes",
        "Nein, lieber nicht",
        "non, laisse",
        "нет, не так",
        "不是这个",
        "いいえ",
        "아니요",
    ],
)
def test_a_refusal_is_known_by_how_it_begins(words: str) -> None:
    assert contradicts(words)


@pytest.mark.parametrize(
    "words",
    [
        *("no problem, go on", "yes", "now the tests", "Note the port", "不错"),
        *(
            "Stop the container and start it anew.",
            "Undo the last migration, too.",
            "别名怎么配置？",
        ),
        *("No that is all, thanks!", "Don't forget to write a test.", "別のテストもして"),
    ],
)
def test_other_beginnings_refuse_nothing(words: str) -> None:
    assert not contradicts(words)


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
    claim = claim_in(entry)
    assert claim is not None
    assert claim.is_approval


def test_other_sentences_are_neither() -> None:
    assert not is_standing_rule("The build is green")
    assert not is_standing_rule("Não funciona assim.")
    assert not is_standing_rule("Should we never do that?")
    assert not is_decision("The build is green")
    assert claim_in("Added a user approval flow") is None
    assert claim_in("The users table has three columns") is None
    assert claim_in("用户要求部署") == UserClaim("用户要求部署", "  部署", is_approval=False)
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


@pytest.mark.parametrize("wording", ALL, ids=lambda wording: wording.pattern.pattern[:24])
def test_a_match_in_plain_text_holds_one_of_the_words(wording: Wording) -> None:
    around = st.sampled_from(["", "the old ", "yes, ", "(", " of it.", ", then", "?"])

    @settings(max_examples=60)
    @given(around, st.from_regex(wording.pattern, alphabet=ASCII), around)
    def check(before: str, match: str, after: str) -> None:
        sentence = before + match + after
        if wording.pattern.search(sentence):
            assert wording.stands_in(sentence)

    check()


@given(st.lists(st.sampled_from("never I'm 7 is named only my a-b x@y.z 不要 Ä".split())))
def test_a_wording_is_found_where_its_pattern_is(words: list[str]) -> None:
    sentence = " ".join(words)
    for wording in ALL:
        found = wording.pattern.search(sentence) is not None
        assert wording.stands_in(sentence) == found


def test_words_are_parted_by_all_that_no_word_is_made_of() -> None:
    assert words_in("Don't PUSH, ever_more!") == {b"don", b"t", b"push", b"ever_more"}
    assert words_in("at 7:30") == {b"at", b"7", b"30", b"0"}
    assert words_in("mail a@b") == {b"mail", b"a", b"b", b"0"}


def test_a_sentence_with_other_letters_is_always_tried() -> None:
    assert words_in("füge es nie ein") is None
    assert Wording("never", "nie").stands_in("füge es nie ein")


def test_a_sentence_without_the_words_is_not_tried() -> None:
    wording = Wording("never", "push")
    assert not wording.stands_in("push it")
    assert wording.stands_in("never push it")


def test_case_does_not_count() -> None:
    assert isinstance(DONE.pattern, re.Pattern)
    assert DONE.stands_in("ALL DONE")


@pytest.mark.parametrize(
    "sentence",
    ["Never touch the schema.", "I prefer tabs.", "Ändere das Schema niemals.", "不要修改数据库。"],
)
def test_rules_and_preferences_stand(sentence: str) -> None:
    assert is_standing_rule(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "My name is Marta.",
        "The service is called Harbor.",
        "The port is 8443.",
        "Its settings are in /srv/harbor/tides.toml.",
    ],
)
def test_who_and_what_something_is_are_values(sentence: str) -> None:
    assert is_value(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "Should we never do that?",
        "Is the port 8443?",
        "Go on.",
        "I tried it and don't like it.",
        "Then they'll have to remember the second valve.",
    ],
)
def test_questions_and_talk_are_neither(sentence: str) -> None:
    assert not is_standing_rule(sentence)
    assert not is_value(sentence)


@given(st.text())
def test_any_text_is_judged(text: str) -> None:
    assert is_said_of(text) in (True, False)
    assert given_value(text) is None or given_value(text)
