"""The inner loops over arrays: the compiled ones where the installation has them, else the same in numpy.

`plain` says what each function returns, and is what the compiled ones are tested against.
"""

from __future__ import annotations

from cairn.kernels.build import IS_COMPILED

if IS_COMPILED:
    from cairn.kernels import compiled as _chosen
else:
    from cairn.kernels import plain as _chosen  # type: ignore[no-redef] # the same functions

IS_COMPILED = _chosen.__name__.endswith(".compiled")
add_up = _chosen.add_up
best_files = _chosen.best_files
chunk_features = _chosen.chunk_features
cosines = _chosen.cosines
count_rows = _chosen.count_rows
file_lexical = _chosen.file_lexical
find_runs = _chosen.find_runs
look_up = _chosen.look_up
make_postings = _chosen.make_postings
one_of_each = _chosen.one_of_each
pair_products = _chosen.pair_products
predict = _chosen.predict
sum_occurrences = _chosen.sum_occurrences
term_features = _chosen.term_features
