"""The pages as pictures: PNG and TIFF."""

from __future__ import annotations

from collections.abc import Iterator

from PIL import TiffImagePlugin

from deshred.cases import writing
from deshred.export.encoding import encode_tiff, save_tiff
from deshred.export.material import File, LargeFile, Material, open_scratch


def export_png(material: Material) -> Iterator[File]:
    """One PNG per page: its pixels unchanged."""
    for index in range(len(material.pages)):
        yield File(f"png/{material.stem(index)}.png", material.pages.png(index))


def export_tiff(material: Material) -> Iterator[File | LargeFile]:
    """One TIFF per page, or all pages in one; bitonal ones are group 4, others deflated without loss."""
    bitonal = material.options.images == "bitonal"
    if not material.options.multipage:
        for index, page in enumerate(material.pages):
            yield File(f"tiff/{material.stem(index)}.tif", encode_tiff(page, bitonal=bitonal))
        return
    with open_scratch(material.scratch) as stream:
        writer = TiffImagePlugin.AppendingTiffWriter(stream, new=True)
        with writing(material.scratch):
            for page in material.pages:
                save_tiff(page, writer, bitonal=bitonal)
                writer.newFrame()
            writer.finalize()
        yield LargeFile(f"pages-{material.options.copy}.tif", stream)
