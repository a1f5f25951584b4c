"""Releases where the data live: Spark reads, carries and runs; what is drawn, refused and published is `release`'s.

Problem: a lazy frame is evaluated again by a second action, a retry or a speculative task, and draws again each time.
Theorem: theory 4: a keyed draw that is repeated tells nothing new.
Entrance: `joint`, `sanitise`, `estimate`, each on a Spark frame; `session` starts one that is set up for them.
Size: tables in a cluster; one machine is faster up to some 10^9 records. Proves: nothing of its own.
"""

from discreet.spark.cluster import session
from discreet.spark.frame_carrier import sanitise_frame as sanitise
from discreet.spark.grouped_counts import estimate_frame as estimate
from discreet.spark.grouped_counts import joint_of_frame as joint

__all__ = ["estimate", "joint", "sanitise", "session"]
