"""A study as one self-contained page that a board can read.

The problem: whoever answers for the data must see what is promised, kept and learnt at most, without any program.
The theorem: none of its own; the numbers are those of the study, the levels those of an independent audit.
The entrance: `page(study)`, which fills `templates/page.html`; `charts` has the pictures, `mathml` the formulae.
The size it is for: any; of large alphabets the commonest values are shown, and the page says what is left out.
What it proves: nothing; the page names the content hash of the protocol, from which anybody can prove it again.
"""

from discreet.report.page import page
from discreet.report.public_page import public_page

__all__ = ["page", "public_page"]
