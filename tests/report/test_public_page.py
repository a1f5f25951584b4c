"""The page about a public file: from that file alone, without script, and without a word on what it does not know."""

import re
import sys
from pathlib import Path

import pytest

from discreet.protocol.public_file import decode_public
from discreet.report import public_page

sys.path.insert(0, str(Path(__file__).parents[1] / "protocol"))
from public_cases import FORMS, stratified, twins


def body(text):
    return text.split("<body>")[1]


@pytest.mark.parametrize("form", FORMS)
def test_it_is_made_from_the_file_alone(form):
    public = FORMS[form](twins()[0]).public()
    text = public_page(decode_public(public.encode()))
    assert text == public_page(public)
    assert public.digest in text
    assert public.protocol_digest in text
    shown = body(text)
    assert "<script" not in text
    assert " style=" not in shown
    assert not re.search(r'(src|href)="', shown)
    assert "default-src 'none'" in text


@pytest.mark.parametrize("form", FORMS)
def test_it_says_what_the_file_tells_and_shows_no_secret(form):
    public = FORMS[form](twins()[0]).public()
    one = public.first if "strata" in form else public
    text = body(public_page(public))
    plain = text.replace("&#39;", "'")
    assert all(sentence in plain for sentence in one.reveals)
    assert one.promise in plain
    assert ("ill / low" in text or "ill" in re.split(r"[<>/ ]+", text)) == (form == "include_secret")


def test_no_posterior_where_the_values_contain_the_secret():
    text = body(public_page(FORMS["include_secret"](twins()[0]).public()))
    assert "What an output says about one record" not in text
    assert "<h2>What is kept</h2>" not in text
    assert "What an output says about one record" in body(public_page(FORMS["funnel"](twins()[0]).public()))


def test_groups_and_bits():
    text = body(public_page(stratified(twins()[0]).public(), bits=True))
    assert "Group by group" in text
    assert "<h3>f</h3>" in text
    assert " bits a record" in text
