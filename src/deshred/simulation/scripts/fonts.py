"""Which typefaces can write which script: files of Debian packages, none of them shipped.

Faces are held out by design, not by file: what the benchmark reads, in `HELD_OUT`, no training draws.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Literal, get_args

from deshred.errors import MissingDependencyError, SettingsError

ScriptName = Literal[
    "cyrillic",
    "greek",
    "georgian",
    "armenian",
    "hebrew",
    "arabic",
    "devanagari",
    "bengali",
    "thai",
    "ethiopic",
    "hangul",
    "japanese",
    "chinese-simplified",
    "chinese-traditional",
]
SCRIPT_NAMES: tuple[ScriptName, ...] = get_args(ScriptName)

FONT_FOLDER = Path("/usr/share/fonts")
PACKAGES = (
    "fonts-noto-core",
    "fonts-noto-extra",
    "fonts-noto-cjk",
    "fonts-noto-cjk-extra",
    "fonts-dejavu-extra",
    "fonts-freefont-ttf",
    "fonts-paratype",
    "fonts-gfs-didot",
    "fonts-gfs-artemisia",
    "fonts-gfs-neohellenic",
    "fonts-bpg-georgian",
    "culmus",
    "fonts-hosny-amiri",
    "fonts-sil-scheherazade",
    "fonts-kacst",
    "fonts-lohit-deva",
    "fonts-deva-extra",
    "fonts-lohit-beng-bengali",
    "fonts-beng-extra",
    "fonts-thai-tlwg",
    "fonts-sil-abyssinica",
    "fonts-nanum",
    "fonts-unfonts-core",
    "fonts-ipafont",
    "fonts-vlgothic",
    "fonts-arphic-uming",
    "fonts-arphic-ukai",
    "fonts-wqy-zenhei",
    "fonts-wqy-microhei",
)


@dataclass(frozen=True)
class Face:
    """The files of one typeface; `index` is its place inside collections of fonts."""

    regular: str
    bold: str
    index: int = 0

    @property
    def regular_file(self) -> Path:
        return find_font(self.regular)

    @property
    def bold_file(self) -> Path:
        return find_font(self.bold)


def _face(
    name: str, regular: str = "Regular", bold: str = "Bold", index: int = 0, suffix: str = "ttf"
) -> Face:
    return Face(f"{name}-{regular}.{suffix}", f"{name}-{bold}.{suffix}", index)


def _plain(regular: str, bold: str | None = None, index: int = 0) -> Face:
    return Face(regular, bold or regular, index)


def _noto(script: str) -> tuple[Face, ...]:
    """Sans and serif in the weights that offices print."""
    sans, serif = f"NotoSans{script}", f"NotoSerif{script}"
    return (
        _face(sans),
        _face(serif),
        _face(sans, "Light", "Medium"),
        _face(serif, "Medium", "Black"),
        _face(sans, "Condensed", "CondensedBold"),
        _face(serif, "SemiCondensed", "SemiCondensedBold"),
        _face(serif, "ExtraCondensed", "ExtraCondensedBold"),
        _face(sans, "SemiBold", "ExtraBold"),
    )


def _noto_cjk(index: int) -> tuple[Face, ...]:
    return (
        _face("NotoSansCJK", index=index, suffix="ttc"),
        _face("NotoSerifCJK", index=index, suffix="ttc"),
        _face("NotoSansCJK", "Light", "Black", index, "ttc"),
        _face("NotoSerifCJK", "Light", "SemiBold", index, "ttc"),
        _face("NotoSerifCJK", index=index, suffix="ttc"),
    )


_DEJAVU = (
    _plain("DejaVuSans.ttf", "DejaVuSans-Bold.ttf"),
    _plain("DejaVuSerif.ttf", "DejaVuSerif-Bold.ttf"),
    _plain("DejaVuSansMono.ttf", "DejaVuSansMono-Bold.ttf"),
)
_FREE = (
    _plain("FreeSans.ttf", "FreeSansBold.ttf"),
    _plain("FreeSerif.ttf", "FreeSerifBold.ttf"),
    _plain("FreeMono.ttf", "FreeMonoBold.ttf"),
    _plain("FreeSerifItalic.ttf", "FreeSerifBoldItalic.ttf"),
)

TRAINING: dict[ScriptName, tuple[Face, ...]] = {
    "cyrillic": (*_DEJAVU, *_FREE, _plain("PTS55F.ttf", "PTS75F.ttf"), _plain("PTM55F.ttf", "PTM75F.ttf")),
    "greek": (*_DEJAVU, *_FREE, _plain("GFSDidot.otf", "GFSDidotBold.otf"), _plain("GFSDidotItalic.otf")),
    "georgian": (
        *_noto("Georgian"),
        _plain("BPG_Courier_GPL&GNU.ttf"),
        _plain("BPG_Serif_GPL&GNU.ttf"),
        _plain("BPG_Sans_GPL&GNU.ttf"),
        _plain("BPG_Chveulebrivi_GPL&GNU.ttf"),
        _plain("BPG_Algeti_GPL&GNU.ttf"),
        _plain("BPG_Elite_GPL&GNU.ttf"),
        _plain("BPG_Excelsior_GPL&GNU.ttf"),
        _plain("BPG_Serif_Modern_GPL&GNU.ttf"),
    ),
    "armenian": (*_noto("Armenian"), _FREE[0], _FREE[1], _FREE[3], _plain("FreeMono.ttf")),
    "hebrew": (
        *_noto("Hebrew"),
        _face("FrankRuehlCLM", "Medium"),
        _face("MiriamMonoCLM", "Book"),
        _face("HadasimCLM"),
        _face("SimpleCLM", "Medium"),
        _plain("ShofarRegular.ttf", "ShofarDemi-Bold.ttf"),
        _face("MiriamCLM", "Book"),
        _face("HadasimCLM", "RegularOblique", "BoldOblique"),
    ),
    "arabic": (
        _face("NotoNaskhArabic"),
        _face("NotoSansArabic"),
        _face("NotoSansArabic", "Light", "Medium"),
        _face("NotoNastaliqUrdu"),
        _face("NotoKufiArabic"),
        _plain("KacstBook.ttf", "KacstTitle.ttf"),
        _plain("KacstOffice.ttf"),
        _plain("KacstLetter.ttf"),
        _DEJAVU[0],
        _face("NotoNaskhArabic", "Medium", "SemiBold"),
        _face("NotoSansArabic", "Condensed", "CondensedBold"),
        _plain("KacstQurn.ttf"),
        _plain("KacstFarsi.ttf"),
        _plain("KacstPen.ttf", "KacstPoster.ttf"),
        _plain("KacstScreen.ttf", "KacstDecorative.ttf"),
        _FREE[1],
        _plain("FreeMono.ttf"),
        _DEJAVU[2],
    ),
    "devanagari": (*_noto("Devanagari"), _plain("kalimati.ttf"), _plain("samanata.ttf"), _FREE[0]),
    "bengali": (
        *_noto("Bengali")[:4],
        _plain("Lohit-Bengali.ttf"),
        _plain("Ani.ttf"),
        _plain("MitraMono.ttf"),
    ),
    "thai": (
        *_noto("Thai"),
        _face("NotoLoopedThai"),
        _plain("Garuda.ttf", "Garuda-Bold.ttf"),
        _plain("Loma.ttf", "Loma-Bold.ttf"),
        _plain("TlwgTypewriter.ttf", "TlwgTypewriter-Bold.ttf"),
        _plain("Purisa.ttf", "Purisa-Bold.ttf"),
        _plain("Laksaman.ttf", "Laksaman-Bold.ttf"),
    ),
    "ethiopic": _noto("Ethiopic"),
    "hangul": (
        *_noto_cjk(1),
        _plain("NanumGothic.ttf", "NanumGothicBold.ttf"),
        _plain("UnBatang.ttf", "UnBatangBold.ttf"),
        _plain("UnDotum.ttf", "UnDotumBold.ttf"),
        _plain("UnPilgi.ttf", "UnPilgiBold.ttf"),
        _plain("UnGraphic.ttf", "UnGraphicBold.ttf"),
        _plain("NanumBarunGothic.ttf", "NanumBarunGothicBold.ttf"),
        _plain("NanumSquareRoundR.ttf", "NanumSquareRoundB.ttf"),
        _plain("NanumGothicCoding.ttf", "NanumGothicCodingBold.ttf"),
    ),
    "japanese": (*_noto_cjk(0), _plain("VL-Gothic-Regular.ttf"), _plain("VL-PGothic-Regular.ttf")),
    "chinese-simplified": (*_noto_cjk(2), _plain("uming.ttc", index=0), _plain("wqy-microhei.ttc")),
    "chinese-traditional": (*_noto_cjk(3), _plain("uming.ttc", index=2), _plain("wqy-microhei.ttc")),
}
HELD_OUT: dict[ScriptName, tuple[Face, ...]] = {
    "cyrillic": (_face("NotoSans"), _face("NotoSerif"), _plain("PTF55F.ttf", "PTF75F.ttf")),
    "greek": (
        _face("NotoSans"),
        _plain("GFSArtemisia.otf", "GFSArtemisiaBold.otf"),
        _plain("GFSNeohellenic.otf", "GFSNeohellenicBold.otf"),
    ),
    "georgian": (*_DEJAVU[:2], _plain("BPG_Glaho_GPL&GNU.ttf"), _plain("BPG_Nino_Medium_GPL&GNU.ttf")),
    "armenian": _DEJAVU[:2],
    "hebrew": (
        _face("DavidCLM", "Medium", suffix="otf"),
        _face("NachlieliCLM", "Light", suffix="otf"),
        _face("KeterYG", "Medium"),
    ),
    "arabic": (_face("Amiri"), _face("Scheherazade"), _plain("KacstNaskh.ttf")),
    "devanagari": (_plain("Lohit-Devanagari.ttf"), _plain("chandas1-2.ttf")),
    "bengali": (_plain("Mukti.ttf", "Muktibold.ttf"), _plain("LikhanNormal.ttf"), _plain("JamrulNormal.ttf")),
    "thai": (
        _plain("Norasi.ttf", "Norasi-Bold.ttf"),
        _plain("Kinnari.ttf", "Kinnari-Bold.ttf"),
        _plain("Sawasdee.ttf", "Sawasdee-Bold.ttf"),
    ),
    "ethiopic": (_plain("AbyssinicaSIL-Regular.ttf"), _plain("FreeSerif.ttf")),
    "hangul": (_plain("NanumMyeongjo.ttf", "NanumMyeongjoBold.ttf"), _plain("UnGungseo.ttf")),
    "japanese": (_plain("ipamp.ttf"), _plain("ipag.ttf")),
    "chinese-simplified": (_plain("wqy-zenhei.ttc"), _plain("ukai.ttc", index=0)),
    "chinese-traditional": (_plain("wqy-zenhei.ttc"), _plain("ukai.ttc", index=2)),
}


@lru_cache(maxsize=4)
def _list_fonts(folder: Path) -> dict[str, Path]:
    return {file.name: file for file in sorted(folder.rglob("*")) if file.suffix in {".ttf", ".ttc", ".otf"}}


def find_font(name: str, folder: Path = FONT_FOLDER) -> Path:
    """The file of a font on this machine."""
    try:
        return _list_fonts(folder)[name]
    except KeyError:
        raise MissingDependencyError(
            f"{folder}: the font {name} is not there; scripts are drawn with fonts of Debian packages. "
            f"Try: apt-get install {' '.join(PACKAGES)}"
        ) from None


def check_fonts(scripts: tuple[ScriptName, ...] = SCRIPT_NAMES, *, folder: Path = FONT_FOLDER) -> None:
    """Fail at once when a font of these scripts is missing, rather than after some hundred pages."""
    for script in scripts:
        if script not in TRAINING:
            raise SettingsError(f"there is no script {script!r}. Try one of {', '.join(SCRIPT_NAMES)}.")
        for face in (*TRAINING[script], *HELD_OUT[script]):
            for name in (face.regular, face.bold):
                find_font(name, folder)
