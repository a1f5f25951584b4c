"""What a release is worth: to whoever wants information, estimates, or values that are true.

Problem: a convex μ of a row (information, guesses, a task), or a function of the whole mechanism (accuracy, agreement).
Theorem: only convexity is used, so any of them keeps the certificates of theory 1.3 (6 for accuracy and agreement).
Entrance: `MutualInformation`, `Accuracy`, `Balance`, `Agreement`, `Task`.
Size: any. Proves: nothing; it says what solvers maximise.
"""
