"""The redactor itself: what it counts, what it takes for the same secret, and texts that know their parts."""

from __future__ import annotations

import pytest

from logdoctor.report.redaction import Redactor
from logdoctor.wording import Part, Worded, own

KEY = "hf_QkZtRwPxLsVbNmYcHdGjKeUaTfZr"


def value(name: str, text: str) -> str:
    return Redactor().value(name, text)


@pytest.mark.parametrize(
    ("name", "text", "shown"),
    [
        ("args.api_key", "abc", "<api-key-1>"),
        ("a.b.api_key", "abc", "<api-key-1>"),  # the last word of the name tells
        ("a.api_key.port", "abc", "abc"),
        ("args.api_key", "None", "None"),
        ("args.api_key", "", ""),
        ("args.hf_token", "17", "17"),  # a short number is a count of tokens
        ("args.hf_token", "12345678901", "12345678901"),
        ("args.hf_token", "123456789012", "<hf-token-1>"),
        ("args.password", "17", "<password-1>"),
        ("args.model", f"x {KEY}", "x <hf-token-1>"),
        ("args.api_key", "['ab', 'cd']", "['<api-key-1>', '<api-key-2>']"),
        ("args.api_key", "[", "<api-key-1>"),
        ("args.api_key", "Xab", "<api-key-1>"),
        ("args.api_key", "X ['ab']", "<api-key-1>"),
    ],
)
def test_a_value_is_secret_by_its_name(name: str, text: str, shown: str) -> None:
    assert value(name, text) == shown


def test_different_secrets_are_counted_by_kind() -> None:
    redactor = Redactor()
    redactor.text("prompt: 'one', params")
    redactor.text("prompt: 'one', params")
    redactor.text("prompt: 'two', params")
    redactor.text("/home/alice/x /home/bob/x /home/alice/y")
    assert redactor.counts == {"prompt": 2, "user": 2}


def test_hosts_are_the_same_in_capitals_and_secrets_are_not() -> None:
    assert (
        Redactor().text("host=Gpu-Box-17 host=gpu-box-17 host=gpu-box-18")
        == "host=<host-1> host=<host-1> host=<host-2>"
    )
    assert Redactor().text("password='Hunter2' password='hunter2'") == "password='<password-1>' password='<password-2>'"
    redactor = Redactor()
    redactor.text("host=Gpu-Box-17")
    assert redactor.text("connect to [gpu-box-17]:29500 failed") == "connect to [<host-1>]:29500 failed"
    assert redactor.counts == {"host": 1}


def test_what_is_found_depends_on_the_texts_and_not_on_their_company() -> None:
    """The keywords that spare work are those of all texts, and joining the texts makes no keyword."""
    redactor = Redactor()
    redactor.learn("nothing", f"x {KEY}", "gh", "p_QkZtRwPxLsVbNmYcHdGjKeUaTfZr")
    assert redactor.counts == {"hf-token": 1}
    assert redactor.text("gh") == "gh"


def test_own_words_are_no_secrets_and_fillings_are() -> None:
    text = Worded((Part("password: ", own=True), Part("Hunter2!x"), Part(" host=gpu-box-17 stays", own=True)))
    redactor = Redactor()
    redactor.learn_worded(text)
    shown = redactor.worded(text)
    assert shown == "password: <password-1> host=gpu-box-17 stays"
    assert isinstance(shown, Worded)
    assert redactor.counts == {"password": 1}
    assert redactor.text("it was Hunter2!x.") == "it was <password-1>."


def test_learning_reads_each_filling_by_itself_as_well() -> None:
    redactor = Redactor()
    redactor.learn_worded(Worded((Part("see ", own=True), Part(f"api_key='Abc123xyz789' {KEY}"))))
    assert redactor.counts == {"api-key": 1, "hf-token": 1}
    assert redactor.text("refused Abc123xyz789") == "refused <api-key-1>"


def test_own_words_are_not_learned() -> None:
    redactor = Redactor()
    redactor.learn_worded(own("api_key='Abc123xyz789'"))
    assert redactor.counts == {}
    assert redactor.text("refused Abc123xyz789") == "refused Abc123xyz789"


def test_a_filling_is_judged_by_the_name_of_its_fact() -> None:
    text = Worded((Part("it was ", own=True), Part("hunter", name="args.password"), Part(" and "), Part("hunter")))
    assert Redactor().worded(text) == "it was <password-1> and hunter"


def test_a_filling_is_redacted_before_it_is_cut_folded_and_quoted() -> None:
    parts = (
        Part("a ", own=True), Part(f"{'x ' * 8}{KEY} tail", limit=20), Part(" b ", own=True),
        Part("c\n\nd", fold=True), Part(" ", own=True), Part("e f", quote=""),
    )  # fmt: skip
    shown = Redactor().worded(Worded(parts))
    assert shown == "a x x x x x x x x… b c d 'e f'"
    assert Redactor().worded(shown) == shown


def test_a_secret_over_several_fillings_is_hidden_in_each_of_them() -> None:
    text = Worded((Part("token=Abc12", name=""), Part("3xyz789 end")))
    assert Redactor().worded(text) == "token=<token-1><token-2> end"


def test_a_worded_text_reserves_the_numbers_in_it() -> None:
    redactor = Redactor()
    text = Worded((Part("was ", own=True), Part("<hf-token-3>"), Part(f" is {KEY}")))
    redactor.learn_worded(text)
    assert redactor.worded(text) == "was <hf-token-3> is <hf-token-4>"


def test_hosts_are_kept_in_worded_texts_too() -> None:
    text = Worded((Part("connect to ", own=True), Part("10.1.2.3:29500")))
    assert Redactor(keep_hosts=True).worded(text) == "connect to 10.1.2.3:29500"
    assert Redactor().worded(text) == "connect to <private-ip-1>:29500"


def test_the_longest_secret_is_looked_for_first() -> None:
    redactor = Redactor()
    redactor.learn("password='aXq7Hunter2aXq7Hunter2'", "password='aXq7Hunter2aXq7Hunter2bYr8'")
    assert redactor.text("was aXq7Hunter2aXq7Hunter2bYr8 and aXq7Hunter2aXq7Hunter2 too") == (
        "was <password-2> and <password-1> too"
    )


def test_the_highest_number_in_the_text_is_reserved() -> None:
    assert Redactor().text(f"<hf-token-5> <hf-token-3> {KEY}") == "<hf-token-5> <hf-token-3> <hf-token-6>"


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("Ab1cdeFg2hiJ", "it was Ab1cde", "it was <api-key-1>"),  # twelve characters, six of them at the end of a line
        ("Ab1cdeFg2hiJ", "Fg2hiJ it was", "<api-key-1> it was"),
        ("Ab1cdeFg2hiJ", "it was Ab1cdeFg2hi", "it was <api-key-1>"),
        ("Ab1cdeFg2hi", "it was Ab1cde", "it was Ab1cde"),  # a shorter one is looked for as a whole only
        ("Ab1cdeFg2hiJ", "it was Ab1cd", "it was Ab1cd"),
        ("Ab1cdeFg2hiJ", "it was Ab1cde in the middle", "it was Ab1cde in the middle"),
        ("Ab1cdeFg2hiJ", "Ab1cde and more", "Ab1cde and more"),
        ("correcthorse!battery9", "it was correctho", "it was correctho"),  # nine letters and no digit: a word
        ("correcthorse~battery9", "it was correcthor", "it was <api-key-1>"),
        ("Ab1cdeFg2hiJ", "Ab1cde\nx Fg2hiJ", "<api-key-1>\nx Fg2hiJ"),
        ("Ab1cdeFg2hiJ", "Ab1cde", "<api-key-1>"),  # a line of its own
        ("Ab1cdeFg2hiJ", "x\n  Ab1cde \ny", "x\n  <api-key-1> \ny"),
        ("Ab1cdeFg2hiJ", "Ab1c\ndeFg2hiJ y Ab1cdeFg\n2hiJ", "<api-key-1>\n<api-key-1> y <api-key-1>\n<api-key-1>"),
    ],
)  # fmt: skip
def test_pieces_of_a_known_secret_at_the_ends_of_lines(secret: str, text: str, shown: str) -> None:
    redactor = Redactor()
    redactor.learn(f"api_key='{secret}'")
    assert redactor.text(text) == shown


def test_two_cut_secrets_in_one_text() -> None:
    redactor = Redactor()
    redactor.learn("api_key='Ab1cdeFg2hiJ'", "password='Zx9wvuTs8rqP'")
    assert redactor.text("a Ab1cdeF\ng2hiJ b Zx9w\nvuTs8rqP c") == (
        "a <api-key-1>\n<api-key-1> b <password-1>\n<password-1> c"
    )


@pytest.mark.parametrize(
    ("learned", "text", "shown"),
    [
        # spellings of one secret
        ("password='p@ss w0rd!x'", "q=p%40ss%20w0rd%21x&", "q=<password-1>&"),
        ("password='a\"b!c7d'", 'said a\\"b!c7d.', "said <password-1>."),
        (r'''{"password": "a\"bcd!e"}''', 'said a"bcd!e.', "said <password-1>."),
        ("password='a/b!c7d8'", "q=a%2Fb%21c7d8&", "q=<password-1>&"),
        ("password='ab\\c!d7e'", r"it's ab\\c!d7e.", "it's <password-1>."),
        ("password=\"ab'c!d7e\"", r"said ab\'c!d7e.", "said <password-1>."),
        ("password='Abcd1234Efgh567'", "XAbcd1234Efgh567", "XAbcd1234Efgh567"),
        ("password='Abcd1234Efgh567'", "Abcd1234Efgh567X", "Abcd1234Efgh567X"),
        # twenty letters, or a sign that words have not
        ("password='correcthorsebatterys'", "say correcthorsebatterys.", "say <password-1>."),
        ("password='correcthorsebattery'", "say correcthorsebattery.", "say correcthorsebattery."),
        ("password='horse!battery'", "say horse!battery.", "say <password-1>."),
        # a number, a path and a model are ordinary wherever else they stand
        ("password='12345678'", "12345678 bytes", "12345678 bytes"),
        ("password='/run/x/y1'", "read /run/x/y1 now", "read /run/x/y1 now"),
        ("password='meta/Llama-3.1'", "meta/Llama-3.1 is loaded", "meta/Llama-3.1 is loaded"),
        # so is a short word
        ("password='ab1!x'", "then ab1!x came", "then ab1!x came"),
        ("password='ab1!xy'", "then ab1!xy came", "then <password-1> came"),
        # one of less than sixteen characters only as a word
        ("password='Abcd1234Efgh567'", "xAbcd1234Efgh567", "xAbcd1234Efgh567"),
        ("password='Abcd1234Efgh5678'", "xAbcd1234Efgh5678", "x<password-1>"),
        # hosts that no ordinary word is
        ("host=gpu7.lab", "on gpu7.lab it", "on <host-1> it"),
        ("host=workstation", "on workstation it", "on workstation it"),
        ("host=n-1", "on n-1 it", "on n-1 it"),
        ("host=n-12", "on n-12 it", "on <host-1> it"),
        ("host=headnode7ab", "on headnode7ab it", "on <host-1> it"),
        # what is no secret of its own
        ("/home/alice9x7/m", "alice9x7 said", "alice9x7 said"),
        ("write to bob-x7@corp.example.de", "bob-x7 said", "bob-x7 said"),
        ("write to bob-x7@corp.example.de", "it was bob-x7", "it was bob-x7"),
    ],
)  # fmt: skip
def test_where_else_a_secret_is_looked_for(learned: str, text: str, shown: str) -> None:
    redactor = Redactor()
    redactor.learn(learned)
    assert redactor.text(text) == shown


def test_a_secret_that_is_cut_three_times_in_one_text() -> None:
    redactor = Redactor()
    redactor.learn("api_key='Ab1cdeFg2hiJ'")
    shown = redactor.text("a Ab1cdeF\ng2hiJ b Ab1cde\nFg2hiJ c Ab1c\ndeFg2hiJ d")
    assert shown == "a <api-key-1>\n<api-key-1> b <api-key-1>\n<api-key-1> c <api-key-1>\n<api-key-1> d"


def test_a_secret_that_is_cut_in_many_places() -> None:
    redactor = Redactor()
    redactor.learn("api_key='Ab1cdeFg2hiJ'")
    assert redactor.text("a Ab1c\ndeFg2hiJ b " * 30) == "a <api-key-1>\n<api-key-1> b " * 30


def test_a_wrapped_secret_that_is_all_of_a_filling_is_one_secret() -> None:
    parts = (
        Part("'hf_token': '", own=True), Part("hf_QkZtRwPxLs\nVbNmYcHdGjKeUaTfZr9x"), Part("'", own=True),
    )  # fmt: skip
    redactor = Redactor()
    redactor.learn_worded(Worded(parts))
    assert redactor.worded(Worded(parts)) == "'hf_token': '<hf-token-1>\n<hf-token-1>'"


def test_the_pieces_of_a_wrapped_secret_in_a_filling_have_one_placeholder() -> None:
    text = Worded((Part("it was ", own=True), Part("'hf_token': 'hf_QkZtRwPxLs\nVbNmYcHdGjKeUaTfZr9x'")))
    redactor = Redactor()
    redactor.learn_worded(text)
    assert redactor.worded(text) == "it was 'hf_token': '<hf-token-1>\n<hf-token-1>'"
    assert redactor.counts == {"hf-token": 1}


@pytest.mark.parametrize("own_first", [True, False])
def test_the_tools_own_words_around_a_secret_are_kept_exactly(own_first: bool) -> None:
    parts = [Part("key ", own=True), Part(f"({KEY}"), Part(KEY[:4], own=True), Part(f"{KEY})"), Part(" end", own=True)]
    shown = Redactor().worded(Worded(parts if own_first else parts[1:]))
    assert shown.removeprefix("key ") == "(<hf-token-1>hf_Q<hf-token-1>) end"
