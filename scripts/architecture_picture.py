"""Draws docs/architecture.svg: the rooms of the package, layer by layer, and three walks through them."""

from __future__ import annotations

from pathlib import Path

WIDTH, ROW, TOP, LEFT, BOX = 940, 46, 30, 30, 26
LAYERS = [
    ("nothing of ours", ["exceptions", "arrays", "compiling", "randomness", "linear_program"]),
    ("what is known", ["joint", "channel", "information", "phrases"]),
    ("data in and out", ["files", "records", "utilities"]),
    ("what may be false", ["uncertainty"]),
    ("what is promised", ["notions"]),
    ("known mechanisms; proofs", ["mechanisms", "certify"]),
    ("the search", ["solvers"]),
    ("what is proven", ["protocol", "policy"]),
    ("in words", ["wording"]),
    ("what people do", ["design", "audit", "release", "estimate"]),
    ("all of it together", ["study"]),
    ("skins", ["cli", "report", "papers", "testing", "datasets"]),
]
WALKS = [
    ("a table to a released table", "#0b6e69", ["records", "joint", "solvers", "certify", "protocol", "release"]),
    ("a robust design to its proof", "#c2410c", ["design", "notions", "uncertainty", "solvers", "certify", "protocol"]),
    ("a release to an estimate", "#4338ca", ["protocol", "estimate", "records"]),
]


def places() -> dict[str, tuple[float, float]]:
    """The middle of every room's box."""
    found: dict[str, tuple[float, float]] = {}
    for row, (_, rooms) in enumerate(LAYERS):
        for column, room in enumerate(rooms):
            found[room] = (290 + column * 130, TOP + row * ROW + BOX / 2)
    return found


def picture() -> str:
    middle = places()
    height = TOP + len(LAYERS) * ROW + 30 + 22 * len(WALKS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        "<title>The rooms of discreet, and three walks through them</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for row, (what, rooms) in enumerate(LAYERS):
        y = float(TOP + row * ROW)
        parts.append(f'<text x="{LEFT}" y="{y + 17}" fill="#6b7280">{what}</text>')
        for room in rooms:
            x = middle[room][0] - 58
            parts.append(f'<rect x="{x}" y="{y}" width="116" height="{BOX}" rx="5" fill="#f3f4f6" stroke="#d1d5db"/>')
    for number, (_, colour, rooms) in enumerate(WALKS):
        shift = 5 * (number - 1)
        line = " ".join(f"{middle[room][0] + 44 + shift},{middle[room][1] + shift}" for room in rooms)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2" opacity="0.75"/>')
        x, y = middle[rooms[0]]
        parts.append(f'<circle cx="{x + 44 + shift}" cy="{y + shift}" r="4" fill="{colour}"/>')
    for room, (x, y) in middle.items():
        parts.append(f'<text x="{x - 50}" y="{y + 5}" fill="#111827">{room}</text>')
    for number, (name, colour, rooms) in enumerate(WALKS):
        y = TOP + len(LAYERS) * ROW + 14 + 22 * number
        parts.append(f'<text x="{LEFT}" y="{y}" fill="{colour}">● {name}: {" → ".join(rooms)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "docs/architecture.svg"
    target.write_text(picture())
    print(target)
