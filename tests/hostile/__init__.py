"""Inputs, surroundings and texts that mean harm."""
