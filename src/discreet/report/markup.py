"""HTML and SVG by hand: everything that comes from data is escaped here, once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

Attributes = Mapping[str, str | float]


def tag(name: str, content: str | Iterable[str] = "", attributes: Attributes | None = None) -> str:
    """An element around markup that is already safe."""
    inner = content if isinstance(content, str) else "".join(content)
    return f"<{name}{_attributes(attributes)}>{inner}</{name}>"


def text(content: object) -> str:
    """Anything as text that is safe inside an element."""
    return escape(str(content))


def _attributes(attributes: Attributes | None) -> str:
    return "".join(f' {name}="{escape(_short(value))}"' for name, value in (attributes or {}).items())


def _short(value: str | float) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def figure(svg: str, caption: str) -> str:
    return tag("figure", svg + tag("figcaption", text(caption)))


def svg(width: float, height: float, content: Iterable[str], title: str, description: str) -> str:
    """A picture that a screen reader can tell."""
    told = tag("title", text(title)) + tag("desc", text(description))
    size = {"viewBox": f"0 0 {width:g} {height:g}", "role": "img", "xmlns": "http://www.w3.org/2000/svg"}
    return tag("svg", told + "".join(content), {**size, "aria-label": f"{title}. {description}"})


def label(x: float, y: float, content: object, *, anchor: str = "start", style: str = "", turn: float = 0) -> str:
    place: dict[str, str | float] = {"x": x, "y": y, "text-anchor": anchor}
    if style:
        place["class"] = style
    if turn:
        place["transform"] = f"rotate({turn:g} {x:g} {y:g})"
    return tag("text", text(content), place)


def line(x1: float, y1: float, x2: float, y2: float, style: str) -> str:
    return tag("line", "", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "class": style})


def circle(x: float, y: float, radius: float, colour: str, *, ring: float = 0) -> str:
    shape: dict[str, str | float] = {"cx": x, "cy": y, "r": radius, "fill": colour}
    return tag("circle", "", {**shape, "stroke": "#fff", "stroke-width": ring} if ring else shape)


def box(x: float, y: float, width: float, height: float, colour: str, *, told: str = "", opacity: float = 1) -> str:
    """A rectangle; `told` appears when it is pointed at."""
    place: Attributes = {"x": x, "y": y, "width": width, "height": height, "fill": colour, "fill-opacity": opacity}
    return tag("rect", tag("title", text(told)) if told else "", place)


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], numeric: Iterable[int] = ()) -> str:
    """A table whose first column names the row; `numeric` columns are set to the right."""
    right = set(numeric)

    def cell(column: int, content: object) -> str:
        align = {"class": "number"} if column in right else {}
        return tag("th", text(content), {"scope": "row"}) if column == 0 else tag("td", text(content), align)

    head = "".join(
        tag("th", text(name), {"scope": "col", **({"class": "number"} if i in right else {})})
        for i, name in enumerate(header)
    )
    body = "".join(tag("tr", "".join(cell(i, value) for i, value in enumerate(row))) for row in rows)
    return tag("table", tag("caption", text(caption)) + tag("thead", tag("tr", head)) + tag("tbody", body))


def shortened(content: object, length: int) -> str:
    words = str(content)
    return words if len(words) <= length else words[: length - 1].rstrip() + "…"
