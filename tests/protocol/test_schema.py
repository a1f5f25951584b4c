"""The published schema: what files follow, and what the registries say."""

import json
from importlib.resources import files

import jsonschema
import pytest
from protocol_cases import NOTIONS, protocol_of

from discreet.protocol.file import encode
from discreet.protocol.schema import PATH, written

SCHEMA = json.loads(files("discreet.protocol").joinpath("schema.json").read_text())


@pytest.mark.parametrize("notion", NOTIONS, ids=str)
def test_the_file_follows_the_published_schema(notion):
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(encode(protocol_of("sees_secret", notion, bits=60))), SCHEMA)


def test_the_schema_is_what_the_registries_say() -> None:
    assert written().encode() == PATH.read_bytes()
