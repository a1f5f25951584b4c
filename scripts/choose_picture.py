"""Draws docs/choose.svg: from five questions to a notion, a set, a form, a purpose and an epsilon."""

from __future__ import annotations

from pathlib import Path
from xml.sax.saxutils import escape

WIDTH, ROW, TOP = 980, 84, 20
QUESTIONS = [
    (
        "1  Whose records are released?",
        [("those that were counted", "LIP, LDP"), ("others too, or a sample", "RLIP, RLDP + Confidence(0.95)")],
    ),
    (
        "2  What does the attacker know?",
        [("nothing about X", "as above"), ("some released columns", "SRLIP"), ("a published column", "--given")],
    ),
    (
        "3  May the counts be known?",
        [("yes, or a public sample", "no noise"), ("no: publish the protocol itself", "--private 1.0 --letters")],
    ),
    (
        "4  Who applies the mechanism?",
        [("whoever sees X only", "the default"), ("the owner, who has S", "--sees-secret")],
    ),
    (
        "5  What is the release for?",
        [("reading, counting", "--for values"), ("estimates", "--for statistics"), ("learning", "--for information")],
    ),
    (
        "6  How much?",
        [("a promise is given", "--epsilon 0.5"), ("a use is given", "--need 0.9, or --plan n --accuracy 0.01")],
    ),
]


def picture() -> str:
    height = TOP * 2 + ROW * len(QUESTIONS)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        'font-family="sans-serif" font-size="13">',
        "<title>Six questions, and what to write for each answer</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
    ]
    for row, (question, answers) in enumerate(QUESTIONS):
        y = TOP + row * ROW
        if row:
            parts.append(f'<path d="M150 {y - 24} V{y}" stroke="#6b7280" stroke-width="2"/>')
        parts.append(f'<rect x="20" y="{y}" width="290" height="60" rx="8" fill="#e6f2f1" stroke="#0b6e69"/>')
        parts.append(f'<text x="34" y="{y + 35}" font-weight="bold" fill="#111827">{escape(question)}</text>')
        wide = 640 / len(answers)
        for column, (answer, write) in enumerate(answers):
            x = 330 + column * wide
            parts.append(
                f'<rect x="{x:.0f}" y="{y}" width="{wide - 10:.0f}" height="60" rx="8" '
                'fill="#f9fafb" stroke="#d1d5db"/>'
            )
            parts.append(f'<text x="{x + 10:.0f}" y="{y + 25}" fill="#374151">{escape(answer)}</text>')
            parts.append(
                f'<text x="{x + 10:.0f}" y="{y + 46}" fill="#c2410c" font-weight="bold">→ {escape(write)}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    target = Path(__file__).parents[1] / "docs/choose.svg"
    target.write_text(picture())
    print(target)
