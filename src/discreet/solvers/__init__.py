"""Finding the best mechanism, and proving that it is the best.

Problem: maximise Σ q_y μ(v_y) with Σ q_y v_y = 1 over rows v_y of a cone (theory 1): `problem.Problem`.
Theorem: every room names its own; all bounds hold for every permitted mechanism.
Entrance: `methods.plan` chooses, `methods.METHODS` lists, `driver.solve` owns the clock.
Size: from two letters to a hundred thousand, room by room. Proves: bounds; levels are proven in `certify`.
"""
