"""deshred puts strip-shredded paper back together: scans of shreds in, readable pages out."""

__version__ = "0.1.0"
