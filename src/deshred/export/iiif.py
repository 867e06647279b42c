"""For viewers of libraries: an IIIF Presentation 3 manifest, and what was read as annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from deshred.export.encoding import encode_jpeg
from deshred.export.material import File, Material
from deshred.export.records import to_json
from deshred.export.text import render_line

_CONTEXT = "http://iiif.io/api/presentation/3/context.json"


def export_iiif(material: Material) -> Iterator[File]:
    """`iiif/manifest.json`, a JPEG per page, and a page of annotations for each page that was read."""
    for index, page in enumerate(material.pages):
        yield File(f"iiif/{material.stem(index)}.jpg", encode_jpeg(page))
        if material.readings is not None:
            yield File(f"iiif/{material.stem(index)}-words.json", to_json(_annotate(material, index)))
    yield File("iiif/manifest.json", to_json(_build_manifest(material)))


def _address(material: Material, name: str) -> str:
    return f"{material.options.base_url.rstrip('/')}/{name}"


def _canvas(material: Material, index: int) -> str:
    return _address(material, f"{material.stem(index)}/canvas")


def _build_manifest(material: Material) -> dict[str, Any]:
    return {
        "@context": _CONTEXT,
        "id": _address(material, "manifest.json"),
        "type": "Manifest",
        "label": {"none": [f"{material.title} ({material.options.copy} copy)"]},
        "items": [_build_canvas(material, index) for index in range(len(material.pages))],
    }


def _build_canvas(material: Material, index: int) -> dict[str, Any]:
    card = material.card(index)
    size = {"width": card.width, "height": card.height}
    canvas = _canvas(material, index)
    picture = {
        "id": _address(material, f"{material.stem(index)}.jpg"),
        "type": "Image",
        "format": "image/jpeg",
        **size,
    }
    painting = {
        "id": f"{canvas}/painting",
        "type": "Annotation",
        "motivation": "painting",
        "body": picture,
        "target": canvas,
    }
    content: dict[str, Any] = {
        "id": canvas,
        "type": "Canvas",
        "label": {"none": [f"{material.number(index)}"]},
        **size,
        "items": [{"id": f"{canvas}/page", "type": "AnnotationPage", "items": [painting]}],
    }
    if material.readings is not None:
        words = _address(material, f"{material.stem(index)}-words.json")
        content["annotations"] = [{"id": words, "type": "AnnotationPage"}]
    return content


def _annotate(material: Material, index: int) -> dict[str, Any]:
    own = _address(material, f"{material.stem(index)}-words.json")
    return {
        "@context": _CONTEXT,
        "id": own,
        "type": "AnnotationPage",
        "items": [
            {
                "id": f"{own}#line-{number}",
                "type": "Annotation",
                "motivation": "supplementing",
                "body": {
                    "type": "TextualBody",
                    "value": render_line(material, index, line),
                    "format": "text/plain",
                },
                "target": (
                    f"{_canvas(material, index)}#xywh="
                    f"{line.box.left},{line.box.top},{line.box.width},{line.box.height}"
                ),
            }
            for number, line in enumerate(material.lines(index), 1)
        ],
    }
