from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from deshred.arrangement import ArrangementOptions
from deshred.errors import InputError, MismatchError
from deshred.export.explanations import explain
from deshred.export.results import reconstruct_into
from deshred.imaging.decoding import encode_png
from deshred.imaging.scans import read_scans
from deshred.settings import Settings
from tests.commands import run
from tests.conftest import SavedPile

pytest.importorskip("torch", reason="making a network needs deshred[train]")

from deshred.compatibility.pairwise.samples import SampleOptions
from deshred.compatibility.pairwise.scorer import PairwiseScorer
from deshred.compatibility.pairwise.squeezenet import build_squeezenet
from deshred.compatibility.pairwise.training import export_pairwise


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The network of the paper, not trained."""
    file = tmp_path_factory.mktemp("models") / "untrained.onnx"
    export_pairwise(build_squeezenet(32, 32, seed=0).eval(), file, options=SampleOptions(), card={})
    return file


@pytest.fixture
def finished(saved_pile: SavedPile, tmp_path: Path) -> Path:
    """A finished run over copies of the pile's files, two of them of the same name."""
    for number, name in enumerate(saved_pile.truth[:4]):
        target = tmp_path / "pile" / str(number % 2) / f"{number // 2}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes((saved_pile.folder / f"{name}.png").read_bytes())
    settings = Settings(scorer="outline", arrangement=ArrangementOptions(pages=1))
    reconstruct_into(tmp_path / "out", [tmp_path / "pile"], settings=settings)
    return tmp_path / "out"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's exporter warns about itself
def test_the_joins_of_a_page_are_tinted_and_nothing_else(finished: Path, model: Path) -> None:
    done = run("explain", finished, "--page", 1, "--model", model, "-q")
    assert done.exit_code == 0, done.stderr
    picture = read_scans(Path(done.stdout.strip()))[0].image
    page = read_scans(finished / "pages" / "page-001.png")[0].image
    changed = (picture != page).any(axis=2)
    assert 0.01 < changed.mean() < 0.5
    assert not changed[:, :60].any()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_files_that_changed_since_the_run_are_refused(finished: Path, model: Path) -> None:
    file = finished.parent / "pile" / "1" / "0.png"
    file.write_bytes(encode_png(np.zeros((50, 50, 3), np.uint8)))
    with pytest.raises(MismatchError, match="has changed since the run"):
        explain(finished, 1, PairwiseScorer(model))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_page_that_is_not_there_is_an_input_error(finished: Path, model: Path) -> None:
    with pytest.raises(InputError, match=r"no page 2\. It has pages 1 to 1"):
        explain(finished, 2, PairwiseScorer(model))
