"""Files and pipes that appear whole or not at all, and temporary files that nobody can read.

Problem: a run may be killed at any moment, and what it leaves on disk must be neither half a release nor raw data.
Theorem: a name is given last, in one atomic step; what lies on disk before it is nameless or sealed by a lost key.
Entrance: `atomic_file.unpublished`, `atomic_file.open_target`, `sealed_file.SealedFile`.
Size: files of any size, in constant memory. Proves: nothing; 200 kills at random moments are a benchmark.
"""
