"""Stores elsewhere: what is kept comes back, and what goes wrong is said with a remedy."""

from __future__ import annotations

import errno
import pickle
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fsspec", reason="needs deshred[cluster]")

import fsspec
from fsspec.implementations.memory import MemoryFileSystem

from deshred.cases import FolderStore, RemoteStore, SharedStore, open_store
from deshred.errors import DeshredError, MissingDependencyError, OutputError, SettingsError


class _Broken(MemoryFileSystem):
    """A place whose every use fails as the name of the bucket says."""

    protocol = "broken"
    store: dict[str, Any] = {}  # noqa: RUF012
    errors = {"full": OSError(errno.ENOSPC, "No space left on device"), "gone": ConnectionError("gone")}  # noqa: RUF012

    def _fail(self, path: str) -> None:
        for name, error in self.errors.items():
            if name in path:
                raise error

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        self._fail(path)
        super().pipe_file(path, value, **options)

    def size(self, path: str) -> int:
        if "gone" in path:
            self._fail(path)
        if "huge" in path:
            return 1 << 60
        return int(super().size(path))


@pytest.fixture
def address() -> str:
    return f"memory://{uuid.uuid4().hex}/case"


def test_arrays_come_back_as_they_were_kept(address: str) -> None:
    arrays = {"a.b": np.arange(6).reshape(2, 3), "names": np.array([b"x", b"yy"]), "none": np.zeros((0, 4))}
    open_store(address).save("ab12", arrays)
    kept = open_store(address + "/").load("ab12")
    assert kept is not None
    for name, array in arrays.items():
        np.testing.assert_array_equal(kept[name], array)
        assert kept[name].dtype == array.dtype
    assert open_store(address).load("ab13") is None


def test_folders_are_made_where_a_place_needs_them(tmp_path: Path) -> None:
    store = open_store(f"local://{tmp_path}/not/yet")
    assert isinstance(store, RemoteStore)
    store.save("ab12", {"a": np.arange(3)})
    assert store.load("ab12") is not None
    assert (tmp_path / "not/yet/ab/ab12.npz").is_file()


def test_a_store_travels_as_its_address(address: str) -> None:
    store = open_store(address)
    store.save("ab12", {"a": np.arange(3)})
    packed = pickle.dumps(store)
    assert len(packed) < 200
    assert pickle.loads(packed) == store
    assert isinstance(store, SharedStore)


@pytest.mark.parametrize("form", ["{}", "file://{}"])
def test_a_folder_is_a_store_of_files(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(form.format(tmp_path / "kept"))
    assert isinstance(store, FolderStore)
    store.save("ab12", {"a": np.arange(3)})
    monkeypatch.chdir(tmp_path)
    assert open_store("kept").load("ab12") is not None
    assert str(tmp_path) in open_store("kept").address  # workers run in other folders


def test_what_is_damaged_is_not_there(address: str) -> None:
    store = open_store(address)
    store.save("ab12", {"a": np.arange(100)})
    files = fsspec.filesystem("memory")
    (name,) = files.find(address.removeprefix("memory:/"))
    whole = files.cat_file(name)
    for content in (b"", whole[:50], pickle.dumps({"a": 1}), b"PK" + whole[2:40]):
        files.pipe_file(name, content)
        assert store.load("ab12") is None


def test_what_would_run_a_program_is_not_read(address: str) -> None:
    store = open_store(address)
    store.save("ab12", {"a": np.arange(3)})
    files = fsspec.filesystem("memory")
    (name,) = files.find(address.removeprefix("memory:/"))
    with files.open(name, "wb") as file:
        np.savez(file, a=np.array([{"any": "object"}], object))
    assert store.load("ab12") is None


@pytest.fixture
def broken() -> None:
    fsspec.register_implementation("broken", _Broken, clobber=True)


@pytest.mark.usefixtures("broken")
@pytest.mark.parametrize(
    ("where", "use", "told"),
    [
        ("broken://full/a", "save", r"cannot be written \(.*No space left.*there is room.*continues"),
        ("broken://gone/a", "save", r"cannot be written \(gone\).*network"),
        ("broken://gone/a", "load", r"cannot be read \(gone\).*network"),
    ],
)
def test_a_store_that_fails_is_an_error_with_a_remedy(where: str, use: str, told: str) -> None:
    store = open_store(where)
    with pytest.raises(OutputError, match=told):
        store.save("ab12", {"a": np.arange(3)}) if use == "save" else store.load("ab12")


@pytest.mark.usefixtures("broken")
def test_an_object_that_fills_the_memory_is_not_read() -> None:
    store = open_store("broken://huge/a")
    store.save("ab12", {"a": np.arange(3)})
    assert store.load("ab12") is None


@pytest.mark.parametrize(
    ("where", "kind", "told"),
    [
        ("s3://bucket/case", MissingDependencyError, r"pip install s3fs$"),
        ("gs://bucket/case", MissingDependencyError, r"pip install gcsfs$"),
        ("sftp://host/case", MissingDependencyError, r"pip install 'fsspec\[sftp\]'$"),
        ("nonsense://x", SettingsError, "not the address of a store.*Give a folder, or a URL"),
        ("://", SettingsError, "does not begin with a protocol"),
        ("http://[/x", SettingsError, "not the address of a store"),
        ("ftp://127.0.0.1:1/x", OutputError, r"cannot be reached \(.*Check the address"),
    ],
)
def test_an_address_that_cannot_be_used_is_said_with_a_remedy(
    where: str, kind: type[DeshredError], told: str
) -> None:
    if kind is MissingDependencyError:
        try:
            fsspec.core.url_to_fs(where)
        except ImportError:
            pass
        else:
            pytest.skip("the package is installed")
    with pytest.raises(kind, match=told):
        open_store(where)


def test_a_password_in_an_address_is_refused_and_not_repeated() -> None:
    with pytest.raises(SettingsError, match="AWS_SECRET_ACCESS_KEY") as refused:
        open_store("s3://me:secret@bucket/case")
    assert "secret@" not in str(refused.value)
