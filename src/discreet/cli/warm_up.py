"""`discreet warm-up`: compile what searches run, ahead of the first design."""

from __future__ import annotations

import time


def warm_up() -> None:
    """Compile the searches once, so that the first design does not have to wait for it."""
    import discreet.solvers.methods  # noqa: F401 (its rooms bring their examples)
    from discreet.cli.show import stdout
    from discreet.compiling import warm_up as compile_all

    started = time.perf_counter()
    names = compile_all()
    stdout.print(f"Ready: {', '.join(sorted(names))}; {time.perf_counter() - started:.1f} s.")
