"""Runs the cases of tests/cases: what their fields set up, and what their expectations assert."""
