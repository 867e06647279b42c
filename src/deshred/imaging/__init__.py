"""Pixels to shreds and back: the room where OpenCV lives."""
