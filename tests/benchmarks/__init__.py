"""Measurements, run by hand: `make bench`. They print figures and assert nothing."""
