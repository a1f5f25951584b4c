"""The published schema: what files follow, and what the registries say."""

import json
from importlib.resources import files

import jsonschema
import pytest
from protocol_cases import NOTIONS, protocol_of

import discreet as dc
from discreet.protocol.file import encode
from discreet.protocol.schema import PATH, written
from discreet.protocol.strata import StratifiedProtocol

SCHEMA = json.loads(files("discreet.protocol").joinpath("schema.json").read_text())


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_file_follows_the_published_schema(notion):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(encode(protocol_of("sees_secret", notion, bits=60))), SCHEMA)


def test_a_file_with_strata_follows_it_too_and_no_mixture_does():
    one = protocol_of()
    content = json.loads(StratifiedProtocol((dc.Attribute("k", ("a", "b")),), {("a",): one, ("b",): one}).encode())
    jsonschema.validate(content, SCHEMA)
    for key in ("outputs", "weights"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**content, key: content["strata"][0][key]}, SCHEMA)
    for key in ("given", "strata"):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**json.loads(encode(one)), key: content[key]}, SCHEMA)


def test_the_schema_is_what_the_registries_say() -> None:
    assert written().encode() == PATH.read_bytes()
