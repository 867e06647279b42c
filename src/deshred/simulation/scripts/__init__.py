"""Pages in scripts of the world, drawn with the fonts of the machine: for training and measuring alone."""

from deshred.simulation.scripts.fonts import SCRIPT_NAMES, ScriptName, check_fonts
from deshred.simulation.scripts.pages import Faces, draw_script_page, draw_script_pages

__all__ = ["SCRIPT_NAMES", "Faces", "ScriptName", "check_fonts", "draw_script_page", "draw_script_pages"]
