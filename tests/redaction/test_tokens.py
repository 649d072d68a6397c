"""Vendors' tokens are found without a name beside them."""

import base64
import random
import string

import pytest

from holdfast.redaction.spans import survey
from holdfast.redaction.tokens import jwt_pass, short_token_pass, vendor_pass, vendors_by_opening

dice = random.Random(7)
LETTERS = string.ascii_letters + string.digits


def made(length: int, alphabet: str = LETTERS) -> str:
    """Return characters as a vendor would draw them; made here, so that no token is stored."""
    return "".join(dice.choices(alphabet, k=length - 2)) + "a7"


def vendor(text: str) -> list[str]:
    return [text[span.start : span.stop] for span in vendor_pass(survey(text))]


TOKENS = [
    "ghp_" + made(36),
    "github_pat_" + made(82),
    "glpat-" + made(20),
    "sk-proj-" + made(100),
    "sk-ant-api03-" + made(93) + "AA",
    "sk-" + made(48),
    "hf_" + made(34),
    "npm_" + made(36),
    "pypi-AgEIcHlwaS5vcmc" + made(60),
    "xoxb-123456789012-123456789012-" + made(24),
    "AIzaSy" + made(33),
    "AKIA" + made(16, string.ascii_uppercase + string.digits).upper(),
    "dop_v1_" + made(64, "0123456789abcdef"),
    "shpat_" + made(32, "0123456789abcdef"),
    "sk_live_" + made(24),
    "SG." + made(22) + "." + made(43),
    "hvs." + made(90),
    "dp.pt." + made(43),
    "lin_api_" + made(40),
    "glsa_" + made(32) + "_" + made(8, "0123456789abcdef"),
    "dapi" + made(32, "0123456789abcdef"),
    "SK" + made(32, "0123456789abcdef"),
    made(32, "0123456789abcdef") + "-us12",
    "123456789:AA" + made(33),
    "M" + made(23) + ".Y" + made(5) + "." + made(27),
    "sha256~" + made(43),
    "gsk_" + made(52),
    "AGE-SECRET-KEY-1" + made(58, string.ascii_uppercase + string.digits).upper(),
    "pat" + made(14) + "." + made(64, "0123456789abcdef"),
    "ya29." + made(80),
    made(14) + ".atlasv1." + made(64),
    "1234567890123456|" + made(27),
    "sntrys_eyJ" + made(60) + "==_" + made(40) + "+/x",
    "fm2_lJPE" + made(12) + "+/" + made(60) + "/" + made(30) + "==",
    "dp.st.prd." + made(43),
    "dp.sa." + made(43),
    "glpat-" + made(27) + ".01." + made(9, string.ascii_lowercase),
    "glrt-t1_" + made(27) + ".01." + made(9, string.ascii_lowercase),
    "ATATT3xFfGF0" + made(172) + "=1A2B3C4D",
    "AQ.Ab8RN6" + made(44),
    "1//0" + made(60),
    "vercel_blob_rw_" + made(16) + "_" + made(30),
    "vci_" + made(56),
    "v1.0-" + made(24, "0123456789abcde") + "-" + made(146, "0123456789abcde"),
    "AGE-SECRET-KEY-PQ-1" + made(58, string.ascii_uppercase + string.digits).upper(),
    made(52) + "JQQJ99BAACAAAAAAAAAAAAASAZDO" + made(4),
    "da2-" + made(26, string.ascii_lowercase),
    "9-" + made(64),
    made(6) + "_" + made(29) + "_mmk",
    made(32, "0123456789abcdef") + "." + made(16),
    "00D" + made(12) + "!AQ4" + made(90),
    "api_live_us." + made(40),
    "1000." + made(32, "0123456789abcdef") + "." + made(32, "0123456789abcdef"),
    "glc_" + made(30) + "/" + made(30) + "==",
    "mdb_sa_sk_" + made(40),
    "key_" + made(64, "0123456789abcdef"),
]


@pytest.mark.parametrize("token", TOKENS, ids=lambda token: token[:6])
@pytest.mark.parametrize("frame", ["{}", "see {}, then", '"{}"', "x={}", r"\n{}\n", "(é {})"])
def test_a_token_is_found_wherever_it_stands(token: str, frame: str) -> None:
    assert vendor(frame.format(token)) == [token]


def test_a_hexadecimal_token_may_have_few_different_digits_but_no_runs_of_them() -> None:
    assert vendor("shpat_" + "abcdef12" * 4) == ["shpat_" + "abcdef12" * 4]
    assert vendor("shpat_" + "aaaabbbbccccddddeeeeffff11112222") == []


def test_a_run_that_calls_itself_a_live_key_or_a_token_is_one_of_an_unknown_vendor() -> None:
    for front in ("zork_live_", "zork_v2_sk_", "a_zork_token_"):
        token = front + made(30)
        assert vendor(f'"{token}"') == [token]
    assert vendor("zork_live_mode_is_on_for_all_users_1") == []
    assert vendor(f"zork_{made(30)}") == []


def test_a_generated_value_beside_the_name_of_a_service_is_a_secret() -> None:
    digest = made(32, "0123456789abcdef")
    uuid = "bc0dbc0e-1563-47eb-ab8e-3b91d26ab4a8"
    assert vendor(f"assemblyai = {digest}") == [digest]
    assert vendor(f'"mailjet": "{digest}"') == [digest]
    assert vendor(f"postmark: '{uuid}'") == [uuid]
    for name in ("zork", "sentry_commit", "mailjet_id", "see mailjet, revision"):
        assert vendor(f"{name}: {digest}") == []


def test_the_key_of_a_robot_account_is_found_behind_its_name() -> None:
    key = made(64, string.ascii_uppercase + string.digits).upper()
    assert vendor(f"org+builder:{key}") == [key]
    assert vendor(f"builder:{key}") == []


def test_a_token_with_dots_may_end_a_sentence() -> None:
    token = "M" + made(23) + ".Y" + made(5) + "." + made(27)
    assert vendor(f"use {token}. Then go.") == [token]


@pytest.mark.parametrize(
    "text",
    [
        "3b18e512dba79e4c8300dd08aeb37f8e728b8dad",
        "Nfm2_z5wgR7CnL7lTZ4bbotjXZtiLWvolNQqWBRFWkcidtzSyhWvta9yPB3E2uyvfJ",
        "gAAAAABn" + made(100),
        "123e4567-e89b-12d3-a456-426614174000",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "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",
        "sk-learn-estimator-doc-link-one",
        "AKIAIOSFODNN7EXAMPLE",
        "test_a_long_name_of_a_function_1",
        "video_box.ico-7a388b69018576d24b59331fd60aab0c.png",
        "toolu_01A09q90qw90lq917835lq9",
        "s.getSessionsBranchEntries",
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    ],
)
def test_ids_digests_names_and_stand_ins_are_left_alone(text: str) -> None:
    assert vendor(text) == []


def test_every_row_of_the_table_finds_a_token_of_its_shape() -> None:
    for lengths in vendors_by_opening().values():
        for row in (row for rows in lengths.values() for found in rows.values() for row in found):
            length = max(row.least, min(row.most, row.least + 12))
            rest = made(length, "".join(sorted(set(row.alphabet.decode()) - set("-_"))))
            rest = rest.upper() if b"a" not in row.alphabet else rest
            token = row.prefix.decode() + rest
            if len(token) >= 20:
                assert vendor(f"see {token} there") == [token], row


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def test_a_json_web_token_is_found_by_its_header() -> None:
    token = ".".join(
        [encoded('{"alg":"HS256","typ":"JWT"}'), encoded('{"sub":"1234567"}'), made(43)]
    )
    text = f"got {token} back"
    assert [text[span.start : span.stop] for span in jwt_pass(survey(text))] == [token]


def test_what_only_begins_like_a_json_web_token_is_none() -> None:
    assert jwt_pass(survey(encoded('{"name":"x","value":"y"}') + "." + made(40))) == []
    assert jwt_pass(survey("eyJ" * 100)) == []


def test_a_header_that_is_no_base64_makes_no_json_web_token() -> None:
    undecodable = "eyJ" + "a" * 10
    assert len(undecodable) % 4 == 1
    assert jwt_pass(survey(f"{undecodable}.{made(40)}")) == []


def test_a_word_that_begins_like_a_short_token_is_none() -> None:
    assert short_token_pass(survey("AKCelebrationDay")) == []


def test_tokens_without_a_long_run_are_found() -> None:
    text = f"key AKCp8{made(8)} or {made(3)}8Q~{made(34)} here"
    found = [text[span.start : span.stop] for span in short_token_pass(survey(text))]
    assert found == [text[4:17], text[21:61]]


def test_a_secret_access_key_is_found_beside_its_id_and_a_digest_is_not() -> None:
    secret = made(18) + "/" + made(21)
    digest = "3b18e512dba79e4c8300dd08aeb37f8e728b8dad"
    text = f"AKIAZ7QK3RT5WX9YB2CD {secret} {digest}"
    assert [text[span.start : span.stop] for span in short_token_pass(survey(text))] == [secret]
    assert short_token_pass(survey(f"{secret} {digest}")) == []


def test_a_short_token_does_not_hide_the_id_of_an_access_key_inside_it() -> None:
    secret = made(40)
    text = f"AP6AKIAZ7QK3RT5WX9YB2CD {secret}"
    found = [text[span.start : span.stop] for span in short_token_pass(survey(text))]
    assert found == ["AP6AKIAZ7QK3RT5WX9YB2CD", secret]


def test_a_token_right_after_a_dot_is_found() -> None:
    token = "ghp_" + made(36)
    assert vendor(f"./deploy.{token} --now") == [token]
    assert vendor("import app.github_pat_settings_for_the_deployment_of_it") == []
    assert vendor("favicon.ico-7a38e2c19b4d5f60a1b2") == []
