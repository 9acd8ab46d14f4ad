"""Engines that stand in for models where timing matters and text does not."""
