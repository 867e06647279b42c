"""Pages in, their words out: each with its box, how sure the engine is, and the language it was read in.

`read` is the face. One module per engine (`tesseract`, `rapid`). Both run in worker processes, so that a
crash of theirs is an error here and no crash; what was read is kept by content.
"""

from __future__ import annotations

from deshred.reading.engines import Engine as Engine
from deshred.reading.engines import EngineFound as EngineFound
from deshred.reading.engines import Reader as Reader
from deshred.reading.engines import ReadingOptions as ReadingOptions
from deshred.reading.engines import list_engines as list_engines
from deshred.reading.engines import open_reader as open_reader
from deshred.reading.stage import open_reading as open_reading
from deshred.reading.stage import read as read
from deshred.reading.words import Box as Box
from deshred.reading.words import Line as Line
from deshred.reading.words import Reading as Reading
from deshred.reading.words import Word as Word
