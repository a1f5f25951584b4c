"""The one door for data: records of any source become batches, letters, counts, and files again.

Problem: paths, pipes, frames and streams, in any dialect and encoding, mean the same records wherever they are read.
Theorem: one policy decides every cell before its value is known, so no value can make a release or a count fail.
Entrance: `source.open_records`; then `letters` (cells to letters), `counting.count`, `writer.write_records`.
Size: any number of records in bounded memory; up to 10 million combinations of letters. Proves: nothing.
"""
