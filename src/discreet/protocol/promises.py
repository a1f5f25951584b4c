"""Notions and uncertainty sets by name: the few types a protocol file may state, and their parameters."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from discreet.exceptions import ParameterError, ProtocolError
from discreet.notions import LDP, LIP, SRLIP, OrdinaryLDP
from discreet.notions.level import Notion
from discreet.notions.rldp import RLDP
from discreet.uncertainty import ChiSquare, Everything, Exactly, Renyi

UNCERTAINTIES: dict[str, Any] = {kind.__name__: kind for kind in (ChiSquare, Renyi, Everything, Exactly)}
NOTIONS: dict[str, Any] = {kind.__name__: kind for kind in (LDP, LIP, SRLIP, OrdinaryLDP, RLDP)}


def encode_notion(notion: Notion) -> dict[str, Any]:
    return _encode(notion, NOTIONS)


def decode_notion(given: Any) -> Notion:
    notion: Notion = _decode(given, NOTIONS, "notion")
    return notion


def _encode(value: Any, known: dict[str, Any]) -> dict[str, Any]:
    name = type(value).__name__
    if known.get(name) is not type(value):
        raise ParameterError(f"{name} has no place in a protocol file", remedy="Use a notion that discreet can prove.")
    stated: dict[str, Any] = {"name": name}
    for field in fields(value):
        given = getattr(value, field.name)
        stated[field.name] = _encode(given, UNCERTAINTIES) if field.name == "uncertainty" else float(given)
    return stated


def _decode(given: Any, known: dict[str, Any], where: str) -> Any:
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or name not in known:
        raise ProtocolError("an unknown name", where=where, remedy="See the schema for the names it may state.")
    stated = {key: value for key, value in given.items() if key != "name"}
    if set(stated) != {field.name for field in fields(known[name])}:
        raise ProtocolError("other parameters than it has", where=where, remedy="See the schema.")
    for key, value in stated.items():
        if key == "uncertainty":
            stated[key] = _decode(value, UNCERTAINTIES, key)
        elif type(value) not in (int, float) or not abs(value) <= 1e308:
            raise ProtocolError("not a finite number", where=key, remedy="See the schema.")
        else:
            stated[key] = float(value)
    return known[name](**stated)
