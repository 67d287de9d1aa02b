"""Servers for people and programs: questions in the browser, and predictions."""
