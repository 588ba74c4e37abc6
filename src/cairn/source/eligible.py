"""Tells by name which files are worth indexing: tables, and the code that reads them."""

from __future__ import annotations

import re
from collections.abc import Callable

BINARY = "binary (extension)"
GENERATED = "generated"
MINIFIED = "minified"
# State of version control and of Cairn: not part of the project, so not even listed as skipped.
UNLISTED = frozenset((".git", ".hg", ".svn", ".bzr", ".jj", ".pijul", "_darcs", ".cairn"))


def _read_table(text: str) -> dict[str, str]:
    """Return the reason for each word, from lines of the form `reason: word word`, which may be continued."""
    table: dict[str, str] = {}
    reason = ""
    for line in text.strip().split("\n"):
        if ":" in line:
            reason, _, line = line.partition(":")
        table.update(dict.fromkeys(line.split(), reason.strip()))
    return table


_FOLDERS = _read_table("""
vendored: node_modules bower_components jspm_packages third_party third-party thirdparty 3rdparty site-packages
    dist-packages Godeps _vendor .yarn
cache: __pycache__ .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache .tox .nox .eggs .gradle .next
    .nuxt .svelte-kit .angular .docusaurus .parcel-cache .sass-cache .turbo .cache .terraform .ipynb_checkpoints
    .nyc_output .dart_tool .serverless .stack-work .elixir_ls .metals .bloop .ccls-cache .zig-cache zig-cache
snapshot: __snapshots__ __image_snapshots__
""")
# Ordinary names that only mean vendored code beside the manifest of their package manager.
_MANIFESTS = {
    "vendor": ("go.mod", "go.work", "composer.json", "Gemfile", "Cargo.toml", "package.json"),
    "Pods": ("Podfile",),
    "Carthage": ("Cartfile",),
}
_ASSET_FOLDERS = frozenset(("assets", "static", "public", "js", "css", "javascripts", "stylesheets"))
_MARKERS = {"pyvenv.cfg": "virtual environment", "CACHEDIR.TAG": "cache"}  # https://bford.info/cachedir/

_NAMES = _read_table("""
lock file: package-lock.json npm-shrinkwrap.json .package-lock.json yarn.lock pnpm-lock.yaml bun.lock deno.lock
    Cargo.lock poetry.lock uv.lock pdm.lock pixi.lock Pipfile.lock conda-lock.yml composer.lock symfony.lock
    Gemfile.lock gems.locked go.sum go.work.sum flake.lock devbox.lock devenv.lock mix.lock rebar.lock pubspec.lock
    Podfile.lock Package.resolved Cartfile.resolved packages.lock.json paket.lock gradle.lockfile
    buildscript-gradle.lockfile Chart.lock .terraform.lock.hcl stack.yaml.lock cabal.project.freeze buf.lock shard.lock
    renv.lock packrat.lock dub.selections.json MODULE.bazel.lock Brewfile.lock.json
""") | {".DS_Store": BINARY, "Thumbs.db": BINARY, "PKG-INFO": GENERATED}
# Only extensions that no text format uses; .mo, .pt, .dot and the like are judged by their content.
_EXTENSIONS = _read_table(f"""
{BINARY}: .png .jpg .jpeg .jpe .gif .bmp .ico .icns .tif .tiff .webp .avif .heic .heif .jxl .jp2 .psd .xcf .sketch .dds
    .tga .exr .cr2 .nef
    .ttf .otf .woff .woff2 .eot .ttc .pfb
    .zip .tar .gz .tgz .bz2 .tbz .tbz2 .xz .txz .7z .rar .zst .lz4 .lzma .br .cab .cpio .deb .rpm .apk .aab .ipa .msi
    .dmg .iso .img .whl .egg .gem .nupkg .jar .war .ear .aar .jmod .crx .xpi .vsix
    .mp3 .wav .ogg .oga .opus .flac .aac .m4a .wma .mid .midi .aif .aiff .mp4 .m4v .mov .avi .mkv .webm .wmv .flv .mpg
    .mpeg .ogv .3gp .swf
    .pdf .doc .docx .dotx .xls .xlsx .xlsm .xlsb .ppt .pptx .odt .ods .odp .odg .epub .mobi .djvu .vsd .vsdx
    .pyc .pyo .pyd .class .dex .o .obj .a .lib .so .dylib .dll .exe .ko .wasm .rlib .rmeta .pdb .ilk .pch .gch .beam
    .node .nib .elc .luac .bin .uf2
    .sqlite .sqlite3 .db .db3 .mdb .accdb .dbf .parquet .feather .arrow .orc .avro .npy .npz .h5 .hdf5 .pkl .pickle
    .joblib .dill .rds .rda .rdata .tfrecord .dta .sas7bdat .shp .shx .gpkg .mbtiles
    .onnx .safetensors .pth .ckpt .tflite .gguf .ggml .mlmodel .keras .caffemodel
    .blend .fbx .glb .3ds .unitypackage .uasset .p12 .pfx .jks .keystore .lockb
image: .svg .svgz .eps
snapshot: .snap .ambr
{MINIFIED}: .map
""")
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|cjs|css|html?|json)$|\.bundle\.(?:js|mjs|css)$", re.IGNORECASE)
_MINIFIED_ENDINGS = frozenset((".js", ".mjs", ".cjs", ".css", ".html", ".htm", ".json"))


# Files whose existence decides whether others are indexed.
DECIDING_NAMES = frozenset(_MARKERS) | {manifest for names in _MANIFESTS.values() for manifest in names}


def deciding_paths(folder: str) -> set[str]:
    """Return the paths that `check_folder` may look for; like the folder, they are relative to the root."""
    parent, _, name = folder.rpartition("/")
    above = f"{parent}/" if parent else ""
    return {f"{folder}/{marker}" for marker in _MARKERS} | {
        f"{above}{manifest}" for manifest in _MANIFESTS.get(name, ())
    }


def check_folder(path: str, holds: Callable[[str], bool]) -> str:
    """Return the convention by which a folder is not indexed, empty for none.

    Args:
        path: relative to the root; folders above the root never count.
        holds: tells whether a path, relative to the root, exists.
    """
    parent, _, name = path.rpartition("/")
    if reason := _FOLDERS.get(name):
        return reason
    for marker, reason in _MARKERS.items():
        if holds(f"{path}/{marker}"):
            return reason
    if name == "vendor" and (not parent or parent.rpartition("/")[2] in _ASSET_FOLDERS):
        return "vendored"
    above = parent and f"{parent}/"
    if any(holds(above + manifest) for manifest in _MANIFESTS.get(name, ())):
        return "vendored"
    return ""


def check_name(name: str) -> str:
    """Return why a file with this name is never indexed, empty if it may be."""
    if reason := _NAMES.get(name):
        return reason
    dot = name.rfind(".")
    if dot < 1:
        return ""
    ending = name[dot:].lower()
    if reason := _EXTENSIONS.get(ending):
        return reason
    return MINIFIED if ending in _MINIFIED_ENDINGS and _MINIFIED_NAME.search(name) else ""
