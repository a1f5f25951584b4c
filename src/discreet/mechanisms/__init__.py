"""Closed-form mechanisms of the papers, one file each, and their calibration."""
