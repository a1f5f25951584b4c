"""The look of the page: ink on paper, one colour for what is kept, one for the chosen point; A4 when printed."""

from typing import Final

INK: Final = "#1d2a32"
KEPT: Final = "#0b6e6e"
CHOSEN: Final = "#c8501e"
QUIET: Final = "#6b7a83"
OTHERS: Final = ("#8a6fb0", "#4f86c6", "#a08a3c")

CSS: Final = f"""
:root {{ --ink: {INK}; --kept: {KEPT}; --chosen: {CHOSEN}; --quiet: {QUIET}; --line: #d8dfe2; --tint: #f3f7f7; }}
* {{ box-sizing: border-box; }}
html {{ -webkit-print-color-adjust: exact; print-color-adjust: exact; }}
body {{ margin: 0 auto; max-width: 48rem; padding: 3rem 1.5rem 5rem; color: var(--ink); background: #fff;
  font: 400 1.0625rem/1.6 "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif; }}
h1, h2 {{ font-family: Georgia, "Source Serif 4", "Times New Roman", serif; font-weight: 600; line-height: 1.2; }}
h1 {{ font-size: 2.1rem; margin: 0 0 .6rem; letter-spacing: -.01em; }}
h2 {{ font-size: 1.35rem; margin: 3rem 0 .6rem; padding-top: .9rem; border-top: 2px solid var(--kept); }}
p {{ margin: .6rem 0; }}
.kicker {{ color: var(--kept); font-weight: 600; letter-spacing: .06em; text-transform: uppercase; font-size: .8rem; }}
.lead {{ font-size: 1.2rem; line-height: 1.5; }}
.promise {{ background: var(--tint); border-left: 4px solid var(--kept); padding: 1rem 1.2rem; margin: 1.2rem 0; }}
.tiles {{ display: grid; grid-template-columns: repeat(4, 1fr); gap: .8rem; margin: 1.6rem 0; padding: 0; }}
.tiles div {{ border: 1px solid var(--line); border-radius: 6px; padding: .8rem .9rem; }}
.tiles dd {{ margin: 0; font-size: 1.7rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }}
.tiles dt {{ color: var(--quiet); font-size: .84rem; line-height: 1.3; }}
.tiles div {{ display: flex; flex-direction: column-reverse; justify-content: flex-end; gap: .2rem; }}
figure {{ margin: 1.4rem 0; }}
figcaption, caption {{ color: var(--quiet); font-size: .88rem; line-height: 1.45; text-align: left; }}
caption {{ padding: 0 0 .4rem; }}
svg {{ display: block; width: 100%; height: auto; }}
svg text {{ font: 12px "Source Sans 3", "Segoe UI", "Helvetica Neue", Arial, sans-serif; fill: var(--ink); }}
svg .quiet {{ fill: var(--quiet); }}
svg .strong {{ font-weight: 600; }}
svg .small {{ font-size: 10.5px; }}
svg .axis {{ stroke: var(--ink); stroke-width: 1; }}
svg .grid {{ stroke: var(--line); stroke-width: 1; }}
svg .chosen-line {{ stroke: var(--chosen); stroke-width: 1.2; stroke-dasharray: 3 3; }}
table {{ border-collapse: collapse; width: 100%; font-size: .93rem; margin: 1rem 0; }}
th, td {{ text-align: left; vertical-align: top; padding: .38rem .7rem .38rem 0;
  border-bottom: 1px solid var(--line); }}
thead th {{ font-weight: 600; border-bottom: 1.5px solid var(--ink); }}
tbody th {{ font-weight: 400; }}
.number {{ text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }}
li {{ margin: .3rem 0; }}
math {{ font-size: 1.08em; }}
.formula {{ margin: .7rem 0 1.2rem; padding: .5rem 1rem; background: var(--tint); overflow-x: auto; }}
code {{ font: .85em ui-monospace, "DejaVu Sans Mono", monospace; word-break: break-all; }}
footer {{ margin-top: 3.5rem; padding-top: 1rem; border-top: 1px solid var(--line); color: var(--quiet);
  font-size: .85rem; }}
@media (max-width: 40rem) {{ .tiles {{ grid-template-columns: repeat(2, 1fr); }} h1 {{ font-size: 1.7rem; }} }}
@page {{ size: A4; margin: 17mm 18mm; }}
@media print {{
  body {{ max-width: none; padding: 0; font-size: 10.2pt; line-height: 1.45; }}
  h1 {{ font-size: 21pt; }} h2 {{ font-size: 14pt; margin-top: 7mm; break-after: avoid; }}
  figure, tr, .promise, .tiles, .formula {{ break-inside: avoid; }}
  thead {{ display: table-header-group; }}
  table {{ font-size: 9pt; margin: 2mm 0; }} th, td {{ padding: .9mm 2.5mm .9mm 0; }}
  p {{ break-inside: avoid; }} section > p {{ break-after: avoid; }}
  .formula {{ overflow: visible; padding: 1.5mm 3mm; }}
}}
"""
