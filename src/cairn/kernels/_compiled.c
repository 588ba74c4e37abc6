/* The inner loops of the ranking, compiled. Each function does what its namesake in plain.py does with numpy, and gives
 * the same numbers to the bit unless it says otherwise; that file says what they mean. Those for words, lines and files
 * do what counting.py, files.py and embedding/pieces.py say. Arrays come in by the buffer protocol, results go into arrays
 * of the caller's, which overlap no other. Every index that comes from an array is checked before it is used.
 *
 * Only the stable ABI of Python 3.11 is used, so that one build serves all later versions. */

#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#ifdef __linux__
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

/* One build for all processors: the loader picks the variant that this one can run. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define FOR_EACH_PROCESSOR __attribute__((target_clones("avx2", "default")))
#else
#define FOR_EACH_PROCESSOR
#endif

/* Another number for each change of what a function takes or returns; see compiled.py. */
#define VERSION 11

#define MAX_BUFFERS 24
#define FILE_CHUNKS 3  /* of file_lexical in plain.py */

/* -- arguments ---------------------------------------------------------------------------------------------------- */

/* The arrays that a call looks at, to be let go together. */
typedef struct {
    Py_buffer views[MAX_BUFFERS];
    int count;
} Arrays;

static void let_go(Arrays *arrays)
{
    while (arrays->count)
        PyBuffer_Release(&arrays->views[--arrays->count]);
}

/* A type of items: our letter for it, its name, its size in bytes, and the letters that buffers have for it. */
typedef struct {
    char letter;
    const char *name;
    Py_ssize_t size;
    const char *formats;
} Kind;

static const Kind kinds[] = {
    {'b', "int8", 1, "b"},   {'o', "uint8", 1, "B"},   {'i', "int32", 4, "il"},  {'q', "int64", 8, "lq"},
    {'u', "uint64", 8, "LQ"}, {'f', "float32", 4, "f"}, {'d', "float64", 8, "d"}, {0, "", 0, ""},
};

/* Return the items of a contiguous array, NULL with an exception set; a capital letter is for one to be written to.
 * The number of items goes to `length`, or must be `*length` if that is not negative. */
static void *items(Arrays *arrays, PyObject *object, char type, Py_ssize_t *length)
{
    const Kind *kind = kinds;
    while (kind->letter && kind->letter != (type | 32))
        kind++;
    int is_written = type < 'a';
    Py_buffer *view = &arrays->views[arrays->count];
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (is_written ? PyBUF_WRITABLE : 0);
    if (arrays->count == MAX_BUFFERS) {
        PyErr_SetString(PyExc_ValueError, "too many arrays");
        return NULL;
    }
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return NULL;
    arrays->count++;
    char given = view->format ? view->format[0] : 'B';
    if (!given || !strchr(kind->formats, given) || view->itemsize != kind->size) {
        PyErr_Format(PyExc_TypeError, "an array must be of type %s, not %c", kind->name, given);
        return NULL;
    }
    Py_ssize_t n = view->len / kind->size;
    if (*length >= 0 && n != *length) {
        PyErr_Format(PyExc_ValueError, "an array must have %zd items, not %zd", *length, n);
        return NULL;
    }
    *length = n;
    return view->buf ? view->buf : (void *)kinds;  /* of an empty array */
}

static int has_arguments(Py_ssize_t given, Py_ssize_t wanted)
{
    if (given == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%zd arguments are needed, not %zd", wanted, given);
    return 0;
}

static PyObject *out_of_range(Arrays *arrays)
{
    PyErr_SetString(PyExc_IndexError, "a number in an array is out of range");
    let_go(arrays);
    return NULL;
}

static PyObject *no_memory(Arrays *arrays)
{
    let_go(arrays);
    return PyErr_NoMemory();
}

static PyObject *failed(Arrays *arrays)
{
    let_go(arrays);
    return NULL;
}

static PyObject *done(Arrays *arrays)
{
    let_go(arrays);
    Py_RETURN_NONE;
}

/* Tell whether `starts`, of n + 1 items, cuts `total` items into n runs of at least one each. */
static int cuts(const int64_t *starts, Py_ssize_t n, Py_ssize_t total)
{
    if (starts[0] != 0 || starts[n] != total)
        return 0;
    for (Py_ssize_t i = 0; i < n; i++)
        if (starts[i + 1] <= starts[i])
            return 0;
    return 1;
}

/* Memory that grows. */
typedef struct {
    char *bytes;
    size_t used, room;
} Buffer;

static int append(Buffer *buffer, const void *bytes, size_t n)
{
    if (buffer->used + n > buffer->room) {
        size_t room = 2 * (buffer->used + n) + 256;
        char *larger = realloc(buffer->bytes, room);
        if (!larger)
            return 0;
        buffer->bytes = larger;
        buffer->room = room;
    }
    memcpy(buffer->bytes + buffer->used, bytes, n);
    buffer->used += n;
    return 1;
}

/* What was collected, as bytes or text. Formats with `#` would not do: a build by Python 3.13 uses the ones that do not
 * count in Py_ssize_t, which earlier versions refuse. */
static PyObject *as_bytes(const Buffer *buffer)
{
    return PyBytes_FromStringAndSize(buffer->used ? buffer->bytes : "", (Py_ssize_t)buffer->used);
}

static PyObject *as_text(const Buffer *buffer)
{
    return PyUnicode_FromStringAndSize(buffer->used ? buffer->bytes : "", (Py_ssize_t)buffer->used);
}

/* -- cosines ------------------------------------------------------------------------------------------------------ */

/* With so few dimensions and so short a query no sum of products exceeds 32 bits. */
#define MAX_WIDTH 100000
#define LONGEST 8e6

/* A whole number of the query is 256 * high + low, so that all products are of 16 bits, which processors add up fast. */
FOR_EACH_PROCESSOR
static void multiply(const int8_t *rows, Py_ssize_t n, Py_ssize_t width, const int16_t *high, const int16_t *low,
                     float unit, float *out)
{
    for (Py_ssize_t i = 0; i < n; i++) {
        const int8_t *row = rows + i * width;
        int32_t sum_high = 0, sum_low = 0;
        for (Py_ssize_t j = 0; j < width; j++) {
            int16_t value = row[j];
            sum_high += (int32_t)value * high[j];
            sum_low += (int32_t)value * low[j];
        }
        out[i] = (float)((int64_t)sum_high * 256 + sum_low) * unit;
    }
}

/* cosines(rows, query, unit, out) */
static PyObject *cosines(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_items = -1, width = -1, n = -1;
    if (!has_arguments(given, 4))
        return NULL;
    const int8_t *rows = items(&arrays, arguments[0], 'b', &n_items);
    const float *query = rows ? items(&arrays, arguments[1], 'f', &width) : NULL;
    double unit = query ? PyFloat_AsDouble(arguments[2]) : 0;
    float *out = query && !PyErr_Occurred() ? items(&arrays, arguments[3], 'F', &n) : NULL;
    if (!out)
        return failed(&arrays);
    if (n_items != n * width || width > MAX_WIDTH)
        return out_of_range(&arrays);
    int16_t *high = malloc(2 * sizeof(int16_t) * (size_t)(width + 1));
    if (!high)
        return no_memory(&arrays);
    int16_t *low = high + width;
    double length = 0;
    for (Py_ssize_t j = 0; j < width; j++) {
        length += (double)query[j] * query[j];
        if (!(length < LONGEST * LONGEST)) {
            free(high);
            return out_of_range(&arrays);
        }
        int32_t whole = (int32_t)query[j];
        low[j] = (int8_t)(whole & 255);
        high[j] = (int16_t)((whole - low[j]) / 256);
    }
    Py_BEGIN_ALLOW_THREADS
    multiply(rows, n, width, high, low, (float)unit, out);
    Py_END_ALLOW_THREADS
    free(high);
    return done(&arrays);
}

/* pair_products(left, right, out) */
static PyObject *pair_products(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_items = -1, n = -1;
    if (!has_arguments(given, 3))
        return NULL;
    const int8_t *left = items(&arrays, arguments[0], 'b', &n_items);
    const int8_t *right = left ? items(&arrays, arguments[1], 'b', &n_items) : NULL;
    float *out = right ? items(&arrays, arguments[2], 'F', &n) : NULL;
    if (!out)
        return failed(&arrays);
    Py_ssize_t width = n ? n_items / n : 0;
    if (n_items != n * width || width > MAX_WIDTH)
        return out_of_range(&arrays);
    for (Py_ssize_t i = 0; i < n; i++) {
        int32_t sum = 0;
        for (Py_ssize_t j = i * width; j < (i + 1) * width; j++)
            sum += (int32_t)left[j] * right[j];
        out[i] = (float)sum;
    }
    return done(&arrays);
}

/* -- terms --------------------------------------------------------------------------------------------------------- */

/* find_terms(hashes, start, wanted, n_postings, bounds) -> how many occurrences; bounds has the first of each term, and the end */
static PyObject *find_terms(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1, n_starts, n_wanted = -1, n_bounds, total = 0;
    if (!has_arguments(given, 5))
        return NULL;
    const uint64_t *hashes = items(&arrays, arguments[0], 'u', &n);
    n_starts = n + 1;
    const int64_t *start = hashes ? items(&arrays, arguments[1], 'q', &n_starts) : NULL;
    const uint64_t *wanted = start ? items(&arrays, arguments[2], 'u', &n_wanted) : NULL;
    n_bounds = 2 * n_wanted;
    Py_ssize_t n_postings = wanted ? PyLong_AsSsize_t(arguments[3]) : 0;
    int64_t *bounds = wanted && !PyErr_Occurred() ? items(&arrays, arguments[4], 'Q', &n_bounds) : NULL;
    if (!bounds)
        return failed(&arrays);
    for (Py_ssize_t i = 0; i < n_wanted; i++) {
        Py_ssize_t low = 0, high = n;
        while (low < high) {
            Py_ssize_t middle = low + (high - low) / 2;
            if (hashes[middle] < wanted[i])
                low = middle + 1;
            else
                high = middle;
        }
        int is_known = low < n && hashes[low] == wanted[i];
        bounds[i] = is_known ? start[low] : 0;
        bounds[n_wanted + i] = is_known ? start[low + 1] : 0;
        if (bounds[i] < 0 || bounds[n_wanted + i] < bounds[i] || bounds[n_wanted + i] > n_postings)
            return out_of_range(&arrays);
        if (bounds[n_wanted + i] - bounds[i] > PY_SSIZE_T_MAX - total)
            return out_of_range(&arrays);
        total += bounds[n_wanted + i] - bounds[i];
    }
    let_go(&arrays);
    return PyLong_FromSsize_t(total);
}

/* take_postings(bounds, rows, impacts, fields, base, row_of | None, out_terms, out_rows, out_impacts, out_fields)
 * -> how many have a row */
static PyObject *take_postings(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_bounds = -1, n = -1, n_out = -1, n_known = -1, kept = 0;
    if (!has_arguments(given, 10))
        return NULL;
    const int64_t *bounds = items(&arrays, arguments[0], 'q', &n_bounds);
    const int32_t *rows = bounds ? items(&arrays, arguments[1], 'i', &n) : NULL;
    const uint8_t *impacts = rows ? items(&arrays, arguments[2], 'o', &n) : NULL;
    const uint8_t *fields = impacts ? items(&arrays, arguments[3], 'o', &n) : NULL;
    int64_t base = fields ? PyLong_AsSsize_t(arguments[4]) : 0;
    const int32_t *row_of = NULL;
    if (!fields || PyErr_Occurred()
        || (arguments[5] != Py_None && !(row_of = items(&arrays, arguments[5], 'i', &n_known))))
        return failed(&arrays);
    int64_t *out_terms = items(&arrays, arguments[6], 'Q', &n_out);
    int64_t *out_rows = out_terms ? items(&arrays, arguments[7], 'Q', &n_out) : NULL;
    uint8_t *out_impacts = out_rows ? items(&arrays, arguments[8], 'O', &n_out) : NULL;
    uint8_t *out_fields = out_impacts ? items(&arrays, arguments[9], 'O', &n_out) : NULL;
    if (!out_fields)
        return failed(&arrays);
    if (base < 0 || base > INT64_MAX / 2)
        return out_of_range(&arrays);
    Py_ssize_t n_terms = n_bounds / 2, place = 0;
    for (Py_ssize_t term = 0; term < n_terms; term++) {
        int64_t first = bounds[term], end = bounds[n_terms + term];
        if (first < 0 || end < first || end > n || end - first > n_out - place)
            return out_of_range(&arrays);
        place += end - first;
        for (int64_t i = first; i < end; i++) {
            int64_t row = rows[i];
            if (row_of && (row < 0 || row >= n_known))
                return out_of_range(&arrays);
            row = row_of ? row_of[row] : row + base;
            if (row < 0)
                continue;
            out_terms[kept] = term;
            out_rows[kept] = row;
            out_impacts[kept] = impacts[i];
            out_fields[kept++] = fields[i];
        }
    }
    let_go(&arrays);
    return PyLong_FromSsize_t(kept);
}

/* count_shown(bounds, rows, row_of, out): how many of the occurrences of each term are in chunks that have a row */
static PyObject *count_shown(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_bounds = -1, n = -1, n_known = -1, n_terms = -1;
    if (!has_arguments(given, 4))
        return NULL;
    int64_t *out = items(&arrays, arguments[3], 'Q', &n_terms);
    n_bounds = 2 * n_terms;
    const int64_t *bounds = out ? items(&arrays, arguments[0], 'q', &n_bounds) : NULL;
    const int32_t *rows = bounds ? items(&arrays, arguments[1], 'i', &n) : NULL;
    const int32_t *row_of = rows ? items(&arrays, arguments[2], 'i', &n_known) : NULL;
    if (!row_of)
        return failed(&arrays);
    for (Py_ssize_t term = 0; term < n_terms; term++) {
        int64_t first = bounds[term], end = bounds[n_terms + term];
        if (first < 0 || end < first || end > n)
            return out_of_range(&arrays);
        out[term] = 0;
        for (int64_t i = first; i < end; i++) {
            if (rows[i] < 0 || rows[i] >= n_known)
                return out_of_range(&arrays);
            out[term] += row_of[rows[i]] >= 0;
        }
    }
    return done(&arrays);
}

/* -- the first stage ---------------------------------------------------------------------------------------------- */

/* sum_occurrences(terms, rows, impacts, fields, by_impact, by_field, bits, out) */
static PyObject *sum_occurrences(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1, n_terms = -1, n_bits = -1, n_out = -1;
    if (!has_arguments(given, 8))
        return NULL;
    const int64_t *terms = items(&arrays, arguments[0], 'q', &n);
    const int64_t *rows = terms ? items(&arrays, arguments[1], 'q', &n) : NULL;
    const uint8_t *impacts = rows ? items(&arrays, arguments[2], 'o', &n) : NULL;
    const uint8_t *fields = impacts ? items(&arrays, arguments[3], 'o', &n) : NULL;
    const double *by_impact = fields ? items(&arrays, arguments[4], 'd', &n_terms) : NULL;
    const double *by_field = by_impact ? items(&arrays, arguments[5], 'd', &n_terms) : NULL;
    const uint8_t *bits = by_field ? items(&arrays, arguments[6], 'o', &n_bits) : NULL;
    float *out = bits ? items(&arrays, arguments[7], 'F', &n_out) : NULL;
    if (!out)
        return failed(&arrays);
    Py_ssize_t n_rows = n_out / (n_bits + 1);
    double *sums = calloc((size_t)n_out + 1, sizeof(double));
    if (!sums)
        return no_memory(&arrays);
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t term = terms[i], row = rows[i];
        if (term < 0 || term >= n_terms || row < 0 || row >= n_rows) {
            free(sums);
            return out_of_range(&arrays);
        }
        sums[row] += by_impact[term] * impacts[i];
        for (Py_ssize_t b = 0; b < n_bits; b++)
            if (fields[i] & bits[b])
                sums[(b + 1) * n_rows + row] += by_field[term];
    }
    for (Py_ssize_t i = 0; i < n_out; i++)
        out[i] = (float)sums[i];
    free(sums);
    return done(&arrays);
}

/* file_lexical(lexical, blob_rows, floor, out) */
static PyObject *file_lexical(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_rows = -1, n_blobs = -1, n_starts;
    if (!has_arguments(given, 4))
        return NULL;
    const float *lexical = items(&arrays, arguments[0], 'f', &n_rows);
    float *out = lexical ? items(&arrays, arguments[3], 'F', &n_blobs) : NULL;
    n_starts = n_blobs + 1;
    const int64_t *starts = out ? items(&arrays, arguments[1], 'q', &n_starts) : NULL;
    double floor_share = starts ? PyFloat_AsDouble(arguments[2]) : 0;
    if (!starts || PyErr_Occurred())
        return failed(&arrays);
    if (!cuts(starts, n_blobs, n_rows))
        return out_of_range(&arrays);
    float top = 0;
    for (Py_ssize_t i = 0; i < n_rows; i++)
        top = lexical[i] > top ? lexical[i] : top;
    memset(out, 0, (size_t)n_blobs * sizeof(float));
    if (top <= 0)
        return done(&arrays);
    float least = (float)(floor_share * (double)top);
    double *sums = malloc(((size_t)n_blobs + 1) * sizeof(double));
    if (!sums)
        return no_memory(&arrays);
    double most = 0;
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++) {
        float best[FILE_CHUNKS] = {0};
        for (int64_t row = starts[blob]; row < starts[blob + 1]; row++) {
            float value = lexical[row];
            if (value <= least || value <= best[FILE_CHUNKS - 1])
                continue;
            int place = FILE_CHUNKS - 1;
            for (; place && best[place - 1] < value; place--)
                best[place] = best[place - 1];
            best[place] = value;
        }
        double sum = 0;
        for (int place = 0; place < FILE_CHUNKS; place++)
            sum += best[place];
        sums[blob] = sum;
        most = sum > most ? sum : most;
    }
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++)
        out[blob] = (float)(sums[blob] / most);
    free(sums);
    return done(&arrays);
}

FOR_EACH_PROCESSOR
static void add_weighted(float *restrict sums, const float *restrict values, float weight, Py_ssize_t n)
{
    for (Py_ssize_t i = 0; i < n; i++)
        sums[i] += weight * values[i];
}

/* add_up(of_files, file_of_blob, blob_rows, standing, file_of_row | None, columns, weights, dense | None, weight,
 *        base, total, best); the first column is of blobs, the others are of rows */
static PyObject *add_up(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_files = -1, n_blobs = -1, n_rows = -1, n_starts, n_weights = -1;
    if (!has_arguments(given, 12))
        return NULL;
    const float *of_files = items(&arrays, arguments[0], 'f', &n_files);
    const int64_t *file_of_blob = of_files ? items(&arrays, arguments[1], 'q', &n_blobs) : NULL;
    n_starts = n_blobs + 1;
    const int64_t *starts = file_of_blob ? items(&arrays, arguments[2], 'q', &n_starts) : NULL;
    const float *standing = starts ? items(&arrays, arguments[3], 'f', &n_rows) : NULL;
    if (!standing)
        return failed(&arrays);
    if (!cuts(starts, n_blobs, n_rows))
        return out_of_range(&arrays);
    const int64_t *file_of_row = NULL;
    if (arguments[4] != Py_None && !(file_of_row = items(&arrays, arguments[4], 'q', &n_rows)))
        return failed(&arrays);
    const double *weights = items(&arrays, arguments[6], 'd', &n_weights);
    const float *dense = NULL;
    if (!weights || (arguments[7] != Py_None && !(dense = items(&arrays, arguments[7], 'f', &n_rows))))
        return failed(&arrays);
    float dense_weight = (float)PyFloat_AsDouble(arguments[8]);
    float *base = PyErr_Occurred() ? NULL : items(&arrays, arguments[9], 'F', &n_rows);
    float *total = base ? items(&arrays, arguments[10], 'F', &n_rows) : NULL;
    float *best = total ? items(&arrays, arguments[11], 'F', &n_blobs) : NULL;
    if (!best || !PyTuple_Check(arguments[5]))
        return best ? (PyErr_SetString(PyExc_TypeError, "columns must be a tuple"), failed(&arrays)) : failed(&arrays);
    if (PyTuple_Size(arguments[5]) != n_weights || n_weights < 1)
        return out_of_range(&arrays);
    const float *of_blobs = items(&arrays, PyTuple_GetItem(arguments[5], 0), 'f', &n_blobs);
    if (!of_blobs)
        return failed(&arrays);
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++) {
        int64_t file = file_of_blob[blob];
        if (file >= n_files)
            return out_of_range(&arrays);
        float value = file < 0 ? -INFINITY : (float)weights[0] * of_blobs[blob] + of_files[file];
        for (int64_t row = starts[blob]; row < starts[blob + 1]; row++)
            base[row] = value;
    }
    for (Py_ssize_t column = 1; column < n_weights; column++) {
        const float *values = items(&arrays, PyTuple_GetItem(arguments[5], column), 'f', &n_rows);
        if (!values)
            return failed(&arrays);
        add_weighted(base, values, (float)weights[column], n_rows);
    }
    add_weighted(base, standing, 1.0f, n_rows);
    for (Py_ssize_t row = 0; file_of_row && row < n_rows; row++)
        if (file_of_row[row] < 0)
            base[row] = -INFINITY;
    memcpy(total, base, (size_t)n_rows * sizeof(float));
    if (dense)
        add_weighted(total, dense, dense_weight, n_rows);
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++) {
        float highest = total[starts[blob]];
        for (int64_t row = starts[blob] + 1; row < starts[blob + 1]; row++)
            highest = total[row] > highest ? total[row] : highest;
        best[blob] = highest;
    }
    return done(&arrays);
}

/* -- the second stage --------------------------------------------------------------------------------------------- */

typedef struct {
    double value;
    int64_t file;
    int64_t place;
    double before;  /* its value before others of its file counted */
} Entry;

/* Order entries from the highest value down, equal ones by file, and then by place. */
static int compare_entries(const void *left, const void *right)
{
    const Entry *a = left, *b = right;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* best_files(best, file_of_blob, out) -> how many; as many as `out` has room for */
static PyObject *best_files(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_blobs = -1, room = -1, kept = 0;
    if (!has_arguments(given, 3))
        return NULL;
    const float *best = items(&arrays, arguments[0], 'f', &n_blobs);
    const int64_t *file_of_blob = best ? items(&arrays, arguments[1], 'q', &n_blobs) : NULL;
    int64_t *out = file_of_blob ? items(&arrays, arguments[2], 'Q', &room) : NULL;
    if (!out)
        return failed(&arrays);
    Entry *entries = malloc(((size_t)room + 1) * sizeof(Entry));
    if (!entries)
        return no_memory(&arrays);
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++) {
        float value = rintf(best[blob] * 10000.0f) / 10000.0f;
        if (!(value > -INFINITY) || (kept == room && (!room || value < entries[room - 1].value)))
            continue;
        Entry entry = {value, file_of_blob[blob], blob, value};
        if (kept == room && compare_entries(&entry, &entries[room - 1]) > 0)
            continue;
        Py_ssize_t place = kept < room ? kept++ : room - 1;
        for (; place && compare_entries(&entry, &entries[place - 1]) < 0; place--)
            entries[place] = entries[place - 1];
        entries[place] = entry;
    }
    for (Py_ssize_t i = 0; i < kept; i++)
        out[i] = entries[i].place;
    free(entries);
    let_go(&arrays);
    return PyLong_FromSsize_t(kept);
}

/* chunk_features(blobs, blob_rows, total, lexical, name, doc, dense, out, near, near_counts) -> how many are near */
static PyObject *chunk_features(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1, n_starts = -1, n_rows = -1, n_out, n_near = -1, found = 0;
    if (!has_arguments(given, 10))
        return NULL;
    const int64_t *blobs = items(&arrays, arguments[0], 'q', &n);
    const int64_t *starts = blobs ? items(&arrays, arguments[1], 'q', &n_starts) : NULL;
    const float *total = starts ? items(&arrays, arguments[2], 'f', &n_rows) : NULL;
    const float *lexical = total ? items(&arrays, arguments[3], 'f', &n_rows) : NULL;
    const float *name = lexical ? items(&arrays, arguments[4], 'f', &n_rows) : NULL;
    const float *doc = name ? items(&arrays, arguments[5], 'f', &n_rows) : NULL;
    const float *dense = doc ? items(&arrays, arguments[6], 'f', &n_rows) : NULL;
    n_out = 3 * n;
    float *out = dense ? items(&arrays, arguments[7], 'F', &n_out) : NULL;
    int64_t *near = out ? items(&arrays, arguments[8], 'Q', &n_near) : NULL;
    int64_t *near_counts = near ? items(&arrays, arguments[9], 'Q', &n) : NULL;
    if (!near_counts)
        return failed(&arrays);
    Py_ssize_t most = n ? n_near / n : 0;
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t blob = blobs[i];
        if (blob < 0 || blob >= n_starts - 1 || starts[blob] < 0 || starts[blob + 1] > n_rows
            || starts[blob] >= starts[blob + 1])
            return out_of_range(&arrays);
        int64_t best = starts[blob];
        float highest_name = -INFINITY, highest_doc = -INFINITY;
        Py_ssize_t kept = 0;
        for (int64_t row = starts[blob]; row < starts[blob + 1]; row++) {
            best = total[row] > total[best] ? row : best;
            highest_name = name[row] > highest_name ? name[row] : highest_name;
            highest_doc = doc[row] > highest_doc ? doc[row] : highest_doc;
            if (kept == most && (!most || dense[row] <= dense[near[found + most - 1]]))
                continue;
            Py_ssize_t place = kept < most ? kept++ : most - 1;
            for (; place && dense[near[found + place - 1]] < dense[row]; place--)
                near[found + place] = near[found + place - 1];
            near[found + place] = row;
        }
        out[i] = lexical[best];
        out[n + i] = highest_name;
        out[2 * n + i] = highest_doc;
        near_counts[i] = kept;
        found += kept;
    }
    let_go(&arrays);
    return PyLong_FromSsize_t(found);
}

/* Count in which of some files each term stands, anywhere and in some fields: counts[field][term][file]. */
static int count_cells(const int64_t *terms, const int64_t *rows, const uint8_t *fields, Py_ssize_t n,
                       const int64_t *file_of_row, Py_ssize_t n_rows, const int32_t *places, Py_ssize_t n_all_files,
                       Py_ssize_t n_terms, Py_ssize_t n_files, const uint8_t *bits, int n_bits, int32_t *counts)
{
    Py_ssize_t size = n_terms * n_files;
    for (Py_ssize_t i = 0; i < n; i++) {
        int64_t term = terms[i], row = rows[i];
        if (term < 0 || term >= n_terms || row < 0 || row >= n_rows)
            return 0;
        int64_t file = file_of_row ? file_of_row[row] : row;
        if (file >= n_all_files)
            return 0;
        if (file < 0 || places[file] < 0)
            continue;
        Py_ssize_t cell = term * n_files + places[file];
        counts[cell]++;
        for (int b = 0; b < n_bits; b++)
            if (fields[i] & bits[b])
                counts[(b + 1) * size + cell]++;
    }
    return 1;
}

/* term_features(terms, rows, fields, path_terms, path_files, path_fields, file_of_row, n_all_files, files, n_chunks,
 *               rarity, bits, path_bit, out) */
static PyObject *term_features(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1, n_paths = -1, n_rows = -1, n_files = -1, n_terms = -1, n_bits = 2, n_path_bits = 1, n_out;
    if (!has_arguments(given, 14))
        return NULL;
    const int64_t *terms = items(&arrays, arguments[0], 'q', &n);
    const int64_t *rows = terms ? items(&arrays, arguments[1], 'q', &n) : NULL;
    const uint8_t *fields = rows ? items(&arrays, arguments[2], 'o', &n) : NULL;
    const int64_t *path_terms = fields ? items(&arrays, arguments[3], 'q', &n_paths) : NULL;
    const int64_t *path_files = path_terms ? items(&arrays, arguments[4], 'q', &n_paths) : NULL;
    const uint8_t *path_fields = path_files ? items(&arrays, arguments[5], 'o', &n_paths) : NULL;
    const int64_t *file_of_row = path_fields ? items(&arrays, arguments[6], 'q', &n_rows) : NULL;
    Py_ssize_t n_all_files = file_of_row ? PyLong_AsSsize_t(arguments[7]) : 0;
    const int64_t *files = PyErr_Occurred() ? NULL : items(&arrays, arguments[8], 'q', &n_files);
    const int64_t *n_chunks = files ? items(&arrays, arguments[9], 'q', &n_files) : NULL;
    const double *rarity = n_chunks ? items(&arrays, arguments[10], 'd', &n_terms) : NULL;
    const uint8_t *bits = rarity ? items(&arrays, arguments[11], 'o', &n_bits) : NULL;
    const uint8_t *path_bits = bits ? items(&arrays, arguments[12], 'o', &n_path_bits) : NULL;
    n_out = 7 * n_files;
    double *out = path_bits ? items(&arrays, arguments[13], 'D', &n_out) : NULL;
    if (!out)
        return failed(&arrays);
    if (n_all_files < 0 || n_all_files > INT32_MAX || (n_files && n_terms > INT32_MAX / n_files))
        return out_of_range(&arrays);
    Py_ssize_t size = n_terms * n_files;
    int32_t *places = malloc(((size_t)n_all_files + 1) * sizeof(int32_t));
    int32_t *counts = calloc(5 * (size_t)size + 1, sizeof(int32_t));
    int is_sound = places && counts;
    if (!is_sound) {
        free(places);
        free(counts);
        return no_memory(&arrays);
    }
    memset(places, 255, ((size_t)n_all_files + 1) * sizeof(int32_t));
    for (Py_ssize_t i = 0; is_sound && i < n_files; i++) {
        if (files[i] < 0 || files[i] >= n_all_files || n_chunks[i] < 1)
            is_sound = 0;
        else
            places[files[i]] = (int32_t)i;
    }
    is_sound = is_sound
        && count_cells(terms, rows, fields, n, file_of_row, n_rows, places, n_all_files, n_terms, n_files, bits, 2, counts)
        && count_cells(path_terms, path_files, path_fields, n_paths, NULL, n_all_files, places, n_all_files, n_terms,
                       n_files, path_bits, 1, counts + 3 * size);
    free(places);
    if (!is_sound) {
        free(counts);
        return out_of_range(&arrays);
    }
    static const int of_field[] = {0, 1, 2, 4, 3};
    memset(out, 0, (size_t)n_out * sizeof(double));
    for (Py_ssize_t term = 0; term < n_terms; term++) {
        for (Py_ssize_t file = 0; file < n_files; file++) {
            const int32_t *cell = counts + term * n_files + file;
            if (cell[0]) {
                out[5 * n_files + file] += rarity[term] * log1p(cell[0]);
                out[6 * n_files + file] += rarity[term] * cell[0];
            }
            for (int field = 0; field < 5; field++)
                if (cell[field * size])
                    out[of_field[field] * n_files + file] += rarity[term];
        }
    }
    for (Py_ssize_t file = 0; file < n_files; file++)
        out[6 * n_files + file] /= (double)n_chunks[file];
    free(counts);
    return done(&arrays);
}

enum { AT_ONCE = 32 };

/* Add what one tree says of `count` columns of a table, which has `n` columns. Each question is put to all of them in turn, so
   that a compiler can put it to several at a time. */
static void add_tree(const int64_t *features, const float *thresholds, const float *leaves, Py_ssize_t depth,
                     const float *table, Py_ssize_t n, Py_ssize_t count, float *out)
{
    int32_t leaf[AT_ONCE] = {0};
    for (Py_ssize_t question = 0; question < depth; question++) {
        const float *column = table + features[question] * n;
        float threshold = thresholds[question];
        int32_t bit = (int32_t)1 << question;
        for (Py_ssize_t i = 0; i < count; i++)
            leaf[i] += (column[i] <= threshold) * bit;
    }
    for (Py_ssize_t i = 0; i < count; i++)
        out[i] += leaves[leaf[i]];
}

/* predict(features, thresholds, values, n_trees, table, out); the table has a row for each feature */
static PyObject *predict(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_questions = -1, n_values = -1, n_table = -1, n = -1;
    if (!has_arguments(given, 6))
        return NULL;
    const int64_t *features = items(&arrays, arguments[0], 'q', &n_questions);
    const float *thresholds = features ? items(&arrays, arguments[1], 'f', &n_questions) : NULL;
    const float *values = thresholds ? items(&arrays, arguments[2], 'f', &n_values) : NULL;
    Py_ssize_t n_trees = values ? PyLong_AsSsize_t(arguments[3]) : 0;
    const float *table = PyErr_Occurred() ? NULL : items(&arrays, arguments[4], 'f', &n_table);
    float *out = table ? items(&arrays, arguments[5], 'F', &n) : NULL;
    if (!out)
        return failed(&arrays);
    Py_ssize_t depth = n_trees > 0 ? n_questions / n_trees : 0, n_features = n ? n_table / n : 0;
    if (n_trees < 0 || depth > 20 || n_questions != n_trees * depth || n_values != n_trees << depth)
        return out_of_range(&arrays);
    memset(out, 0, (size_t)n * sizeof(float));
    for (Py_ssize_t i = 0; n && i < n_questions; i++)
        if (features[i] < 0 || features[i] >= n_features)
            return out_of_range(&arrays);
    for (Py_ssize_t tree = 0; tree < n_trees; tree++)
        for (Py_ssize_t first = 0; first < n; first += AT_ONCE)
            add_tree(features + tree * depth, thresholds + tree * depth, values + (tree << depth), depth, table + first, n,
                     n - first < AT_ONCE ? n - first : AT_ONCE, out + first);
    return done(&arrays);
}

/* -- the list ----------------------------------------------------------------------------------------------------- */

/* Order numbers from the highest down, what is no number last. */
static int compare_floats(const void *left, const void *right)
{
    float a = *(const float *)left, b = *(const float *)right;
    if (a != a || b != b)
        return (a != a) - (b != b);
    return (a < b) - (a > b);
}

#define FEW 64  /* up to so many are kept in order while the others are looked at */

/* Find the `count` th highest of some values, -inf if there are fewer. Returns 0 if there is no memory. */
static int find_least(const float *values, Py_ssize_t n, Py_ssize_t count, float *least)
{
    *least = -INFINITY;
    if (n < count || !count)
        return 1;
    Py_ssize_t kept = count > FEW ? n : count;
    float *highest = malloc((size_t)kept * sizeof(float));
    if (!highest)
        return 0;
    memcpy(highest, values, (size_t)kept * sizeof(float));
    qsort(highest, (size_t)kept, sizeof(float), compare_floats);
    for (Py_ssize_t i = kept; i < n; i++) {
        if (!(values[i] > highest[count - 1]))
            continue;
        Py_ssize_t place = count - 1;
        for (; place && highest[place - 1] < values[i]; place--)
            highest[place] = highest[place - 1];
        highest[place] = values[i];
    }
    *least = highest[count - 1];
    free(highest);
    return 1;
}

#define PICKED 8  /* so many are picked one by one, for often no more of a file are listed; the others are sorted */

/* Put the first of some entries first. */
static void pick_first(Entry *entries, Py_ssize_t n)
{
    Py_ssize_t first = 0;
    for (Py_ssize_t i = 1; i < n; i++)
        if (compare_entries(&entries[i], &entries[first]) < 0)
            first = i;
    Entry picked = entries[first];
    entries[first] = entries[0];
    entries[0] = picked;
}

/* one_of_each(best, total, blob_rows, file_of_blob, saturation, tie, out_rows, out_files, out_values, out_lost) -> how many */
static PyObject *one_of_each(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n_blobs = -1, n_rows = -1, n_starts, limit = -1, kept = 0;
    if (!has_arguments(given, 10))
        return NULL;
    const float *best = items(&arrays, arguments[0], 'f', &n_blobs);
    const float *total = best ? items(&arrays, arguments[1], 'f', &n_rows) : NULL;
    n_starts = n_blobs + 1;
    const int64_t *starts = total ? items(&arrays, arguments[2], 'q', &n_starts) : NULL;
    const int64_t *file_of_blob = starts ? items(&arrays, arguments[3], 'q', &n_blobs) : NULL;
    double saturation = file_of_blob ? PyFloat_AsDouble(arguments[4]) : 0;
    double tie = file_of_blob && !PyErr_Occurred() ? PyFloat_AsDouble(arguments[5]) : 0;
    int64_t *out_rows = file_of_blob && !PyErr_Occurred() ? items(&arrays, arguments[6], 'Q', &limit) : NULL;
    int64_t *out_files = out_rows ? items(&arrays, arguments[7], 'Q', &limit) : NULL;
    double *out_values = out_files ? items(&arrays, arguments[8], 'D', &limit) : NULL;
    double *out_lost = out_values ? items(&arrays, arguments[9], 'D', &limit) : NULL;
    if (!out_lost)
        return failed(&arrays);
    if (!cuts(starts, n_blobs, n_rows))
        return out_of_range(&arrays);
    float least;
    if (!find_least(best, n_blobs, limit, &least))
        return no_memory(&arrays);
    Py_ssize_t most = 0;
    for (Py_ssize_t blob = 0; blob < n_blobs; blob++)
        most += best[blob] >= least && best[blob] > -INFINITY ? starts[blob + 1] - starts[blob] : 0;
    Entry *entries = malloc(((size_t)most + 1) * sizeof(Entry));
    if (!entries)
        return no_memory(&arrays);
    for (Py_ssize_t blob = 0; limit && blob < n_blobs; blob++) {
        if (!(best[blob] >= least && best[blob] > -INFINITY))
            continue;
        Entry *own = entries + kept;
        Py_ssize_t n_own = 0;
        for (int64_t row = starts[blob]; row < starts[blob + 1]; row++) {
            double value = total[row];
            int is_low = n_blobs >= limit && least > 0 && value < best[blob] - tie && value * saturation < least - tie;
            if (value > -INFINITY && !is_low)
                own[n_own++] = (Entry){value, file_of_blob[blob], row, value};
        }
        for (Py_ssize_t place = 0; place < n_own; place++) {
            if (place < PICKED)
                pick_first(own + place, n_own - place);
            else if (place == PICKED)
                qsort(own + place, (size_t)(n_own - place), sizeof(Entry), compare_entries);
            double value = own[place].value > 0 ? own[place].value * pow(saturation, (double)place)
                                                : own[place].value - (double)place;
            if (n_blobs >= limit && least > 0 && value < least - tie) {
                n_own = place;  /* as many files as are listed have a better row */
                break;
            }
            own[place].value = rint(value * 1e5) / 1e5;
        }
        kept += n_own;
    }
    qsort(entries, (size_t)kept, sizeof(Entry), compare_entries);
    kept = kept < limit ? kept : limit;
    for (Py_ssize_t i = 0; i < kept; i++) {
        out_rows[i] = entries[i].place;
        out_files[i] = entries[i].file;
        out_values[i] = entries[i].value;
        out_lost[i] = entries[i].value - entries[i].before;
    }
    free(entries);
    let_go(&arrays);
    return PyLong_FromSsize_t(kept);
}

/* -- vectors of words ----------------------------------------------------------------------------------------------- */

/* Find the longest piece with which a text begins, in a sorted table of fixed width. Returns its number, -1 for none. */
static Py_ssize_t find_longest(const char *table, Py_ssize_t n, Py_ssize_t width, const char *text, Py_ssize_t *length)
{
    Py_ssize_t end = *length < width ? *length : width;
    while (end > 0) {
        Py_ssize_t low = 0, high = n, common = 0;  /* of the last piece that is not behind the text, one more */
        while (low < high) {
            Py_ssize_t middle = low + (high - low) / 2;
            const char *other = table + middle * width;
            int order = memcmp(other, text, (size_t)end);
            if (order > 0 || (!order && end < width && other[end]))
                high = middle;
            else
                low = middle + 1;
        }
        if (!low)
            return -1;
        const char *piece = table + (low - 1) * width;
        while (common < end && piece[common] == text[common])
            common++;
        *length = common;
        if (common == width || !piece[common])
            return common ? low - 1 : -1;
        end = common;  /* every piece with which the text begins is a beginning of this one */
    }
    return -1;
}

/* Append the pieces of one part of a word to `ids`, none if one is unknown. Returns 0 if there is no memory. */
static int split_part(const char *table, Py_ssize_t n, Py_ssize_t width, const char *part, Py_ssize_t length,
                      Py_ssize_t most_chars, char *piece, Buffer *ids)
{
    size_t before = ids->used;
    Py_ssize_t n_chars = 0, mark = 0, found = length;
    int64_t number = find_longest(table, n, width, part, &found);
    for (Py_ssize_t i = 0; i < length; i++)
        n_chars += ((unsigned char)part[i] & 0xC0) != 0x80;
    if (n_chars > most_chars && found < length)
        return 1;
    while (number >= 0 && found > mark) {
        if (!append(ids, &number, sizeof number))
            return 0;
        part += found - mark;
        length -= found - mark;
        if (!length)
            return 1;
        mark = 2;
        found = mark + length < width ? mark + length : width;
        memcpy(piece, "##", (size_t)mark);
        memcpy(piece + mark, part, (size_t)(found - mark));
        number = find_longest(table, n, width, piece, &found);
    }
    ids->used = before;
    return 1;
}

/* split_words(table, width, lines, most_chars) -> (ids, counts) as bytes of int64; a line is a word, perhaps in parts */
static PyObject *split_words(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Buffer ids = {NULL, 0, 0}, counts = {NULL, 0, 0};
    PyObject *result = NULL;
    Py_ssize_t n_bytes = -1, length = -1;
    if (!has_arguments(given, 4))
        return NULL;
    const char *table = items(&arrays, arguments[0], 'o', &n_bytes);
    const char *lines = table ? items(&arrays, arguments[2], 'o', &length) : NULL;
    Py_ssize_t width = lines ? PyLong_AsSsize_t(arguments[1]) : 0;
    Py_ssize_t most_chars = lines && !PyErr_Occurred() ? PyLong_AsSsize_t(arguments[3]) : 0;
    if (!lines || PyErr_Occurred())
        return failed(&arrays);
    if (width < 3 || n_bytes % width)
        return out_of_range(&arrays);
    char *piece = malloc((size_t)width);
    int has_memory = piece != NULL;
    int64_t before = 0;
    for (Py_ssize_t first = 0, i = 0; has_memory && i < length; i++) {
        if (lines[i] != ' ' && lines[i] != '\n')
            continue;
        if (i > first)
            has_memory = split_part(table, n_bytes / width, width, lines + first, i - first, most_chars, piece, &ids);
        first = i + 1;
        if (has_memory && lines[i] == '\n') {
            int64_t now = (int64_t)(ids.used / sizeof(int64_t)), count = now - before;
            has_memory = append(&counts, &count, sizeof count);
            before = now;
        }
    }
    if (has_memory)
        result = Py_BuildValue("NN", as_bytes(&ids), as_bytes(&counts));
    else
        PyErr_NoMemory();
    free(piece);
    free(ids.bytes);
    free(counts.bytes);
    let_go(&arrays);
    return result;
}

/* -- the index ---------------------------------------------------------------------------------------------------- */

/* A word: where it stands among the joined words, and in which text it was counted last, and where. */
typedef struct {
    uint64_t hash;
    size_t start, length;
    Py_ssize_t text, pair;
} Word;

/* The words of some texts, found by open addressing; a place in `slots` is the number of a word plus one. */
typedef struct {
    Buffer joined, words, ids, counts, lengths;
    int32_t *slots;
    size_t n_slots, n_words;
} Words;

static void free_words(Words *words)
{
    free(words->joined.bytes);
    free(words->words.bytes);
    free(words->ids.bytes);
    free(words->counts.bytes);
    free(words->lengths.bytes);
    free(words->slots);
}

static int grow_slots(Words *words)
{
    size_t n_slots = words->n_slots ? 4 * words->n_slots : 1024;
    int32_t *slots = calloc(n_slots, sizeof(int32_t));
    if (!slots)
        return 0;
    const Word *known = (const Word *)words->words.bytes;
    for (size_t i = 0; i < words->n_words; i++) {
        size_t at = known[i].hash & (n_slots - 1);
        while (slots[at])
            at = (at + 1) & (n_slots - 1);
        slots[at] = (int32_t)i + 1;
    }
    free(words->slots);
    words->slots = slots;
    words->n_slots = n_slots;
    return 1;
}

/* Count a word of a text. */
static int count_word(Words *words, const char *bytes, size_t length, uint64_t hash, Py_ssize_t text)
{
    if (2 * words->n_words >= words->n_slots && !grow_slots(words))
        return 0;
    Word *known = (Word *)words->words.bytes;
    size_t at = hash & (words->n_slots - 1);
    for (; words->slots[at]; at = (at + 1) & (words->n_slots - 1)) {
        const Word *word = &known[words->slots[at] - 1];
        if (word->hash == hash && word->length == length && !memcmp(words->joined.bytes + word->start, bytes, length))
            break;
    }
    if (!words->slots[at]) {
        Word word = {hash, words->joined.used, length, -1, 0};
        if (words->n_words >= INT32_MAX || !append(&words->words, &word, sizeof word)
            || !append(&words->joined, bytes, length) || !append(&words->joined, "\n", 1))
            return 0;
        words->slots[at] = (int32_t)++words->n_words;
        known = (Word *)words->words.bytes;
    }
    int32_t number = words->slots[at] - 1, one = 1;
    Word *word = &known[number];
    if (word->text == text) {
        ((int32_t *)words->counts.bytes)[word->pair]++;
        return 1;
    }
    word->text = text;
    word->pair = (Py_ssize_t)(words->ids.used / sizeof(int32_t));
    return append(&words->ids, &number, sizeof number) && append(&words->counts, &one, sizeof one);
}

/* Tell whether a byte is part of a word: a letter, a digit, an underscore, or part of a character beyond ASCII. */
static int is_word_byte(unsigned char byte)
{
    return byte >= 128 || byte == '_' || (unsigned)(byte - '0') < 10 || (unsigned)((byte | 32) - 'a') < 26;
}

static int count_words_of(Words *words, const char *bytes, Py_ssize_t n, Py_ssize_t text, uint64_t seed)
{
    int32_t before = (int32_t)(words->ids.used / sizeof(int32_t));
    for (Py_ssize_t i = 0; i < n;) {
        if (!is_word_byte((unsigned char)bytes[i])) {
            i++;
            continue;
        }
        Py_ssize_t first = i;
        uint64_t hash = seed;
        for (; i < n && is_word_byte((unsigned char)bytes[i]); i++)
            hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3u;
        hash ^= hash >> 32;
        if (!count_word(words, bytes + first, (size_t)(i - first), hash * 0x9e3779b97f4a7c15u >> 16, text))
            return 0;
    }
    int32_t length = (int32_t)(words->ids.used / sizeof(int32_t)) - before;
    return append(&words->lengths, &length, sizeof length);
}

/* count_words(texts, seed) -> the words, each with a line feed after it, and (ids, counts, lengths) as bytes of int32 */
static PyObject *count_words(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Words words;
    PyObject *result = NULL;
    memset(&words, 0, sizeof words);
    if (!has_arguments(given, 2))
        return NULL;
    uint64_t seed = PyLong_AsUnsignedLongLongMask(arguments[1]);
    Py_ssize_t n = -1;
    if (!PyErr_Occurred() && !PyList_Check(arguments[0]))
        PyErr_SetString(PyExc_TypeError, "texts must be a list");
    else if (!PyErr_Occurred())
        n = PyList_Size(arguments[0]);
    for (Py_ssize_t text = 0; text < n; text++) {
        Py_ssize_t length;
        const char *bytes = PyUnicode_AsUTF8AndSize(PyList_GetItem(arguments[0], text), &length);
        if (!bytes)
            goto done;
        if (!count_words_of(&words, bytes, length, text, seed)) {
            PyErr_NoMemory();
            goto done;
        }
    }
    if (n >= 0)
        result = Py_BuildValue("NNNN", as_text(&words.joined), as_bytes(&words.ids), as_bytes(&words.counts),
                               as_bytes(&words.lengths));
done:
    free_words(&words);
    return result;
}

/* The kinds of bytes in an identifier; what is beyond ASCII counts as small letters. */
enum { NO_PART, SMALL, CAPITAL, DIGIT };

static int kind_of(unsigned char byte)
{
    if (byte >= 128 || (unsigned)(byte - 'a') < 26)
        return SMALL;
    if ((unsigned)(byte - 'A') < 26)
        return CAPITAL;
    return (unsigned)(byte - '0') < 10 ? DIGIT : NO_PART;
}

/* Return where the part of an identifier that begins at `first` ends: `HTTP` and `Response` are parts of HTTPResponse. */
static Py_ssize_t end_of_part(const char *bytes, Py_ssize_t first, Py_ssize_t n)
{
    int kind = kind_of((unsigned char)bytes[first]);
    Py_ssize_t end = first + 1;
    while (end < n && kind_of((unsigned char)bytes[end]) == kind)
        end++;
    if (kind != CAPITAL || end == n || kind_of((unsigned char)bytes[end]) != SMALL)
        return end;
    if (end - first > 1)
        return end - 1;
    while (end < n && kind_of((unsigned char)bytes[end]) == SMALL)
        end++;
    return end;
}

/* Take apart the identifiers in some lines; the number of a line feed is -1. */
static int split_lines(Words *words, char *bytes, Py_ssize_t n, uint64_t seed)
{
    const int32_t end_of_line = -1;
    for (Py_ssize_t i = 0; i < n;) {
        if (kind_of((unsigned char)bytes[i]) == NO_PART) {
            if (bytes[i] == '\n' && !append(&words->ids, &end_of_line, sizeof end_of_line))
                return 0;
            i++;
            continue;
        }
        Py_ssize_t end = end_of_part(bytes, i, n);
        uint64_t hash = seed;
        for (Py_ssize_t j = i; j < end; j++) {
            if (kind_of((unsigned char)bytes[j]) == CAPITAL)
                bytes[j] |= 32;
            hash = (hash ^ (unsigned char)bytes[j]) * 0x100000001b3u;
        }
        hash ^= hash >> 32;
        /* Each part counts as one of a text of its own, so that each is listed. */
        if (!count_word(words, bytes + i, (size_t)(end - i), hash * 0x9e3779b97f4a7c15u >> 16, i))
            return 0;
        i = end;
    }
    return 1;
}

/* split_identifiers(lines, seed) -> the lower-case parts, each once, with a line feed after it, and bytes of int32: their
 * numbers in order, -1 for each line feed */
static PyObject *split_identifiers(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Words words;
    PyObject *result = NULL;
    Py_ssize_t length;
    memset(&words, 0, sizeof words);
    if (!has_arguments(given, 2))
        return NULL;
    uint64_t seed = PyLong_AsUnsignedLongLongMask(arguments[1]);
    const char *text = PyErr_Occurred() ? NULL : PyUnicode_AsUTF8AndSize(arguments[0], &length);
    if (!text)
        return NULL;
    char *bytes = malloc((size_t)length + 1);
    if (!bytes)
        return PyErr_NoMemory();
    memcpy(bytes, text, (size_t)length);
    if (split_lines(&words, bytes, length, seed))
        result = Py_BuildValue("NN", as_text(&words.joined), as_bytes(&words.ids));
    else
        PyErr_NoMemory();
    free(bytes);
    free_words(&words);
    return result;
}

typedef struct {
    uint64_t hash;
    int32_t term;
} HashedTerm;

static int compare_hashes(const void *left, const void *right)
{
    uint64_t a = ((const HashedTerm *)left)->hash, b = ((const HashedTerm *)right)->hash;
    return (a > b) - (a < b);
}

/* What a term adds up to in one row. */
typedef struct {
    double share;
    int32_t row, n_rows;
    uint8_t bits;
} TermSum;

/* One posting before they are sorted by term. */
typedef struct {
    int32_t term, row;
    uint8_t impact, bits;
} Posting;

/* Add up shares by row and term; occurrences are in the order of their rows. Returns how many postings, -1 if an index
 * is out of range. */
static Py_ssize_t add_shares(const int32_t *sources, const int32_t *terms, Py_ssize_t m, const int32_t *rows,
                             const uint8_t *bits, const double *shares, Py_ssize_t n, Py_ssize_t n_terms,
                             Py_ssize_t n_rows, double saturation, double scale, TermSum *sums, int32_t *touched,
                             Posting *postings)
{
    Py_ssize_t found = 0, n_touched = 0;
    for (Py_ssize_t k = 0; k <= m; k++) {
        int32_t source = k < m ? sources[k] : 0;
        if (k < m && (source < 0 || source >= n || terms[k] < 0 || terms[k] >= n_terms || rows[source] < 0
                      || rows[source] >= n_rows))
            return -1;
        if (n_touched && (k == m || rows[source] != sums[touched[0]].row)) {
            for (Py_ssize_t i = 0; i < n_touched; i++) {
                TermSum *sum = &sums[touched[i]];
                double impact = rint(scale * sum->share / (saturation + sum->share));
                postings[found++] = (Posting){touched[i], sum->row, (uint8_t)(!(impact > 1) ? 1 : impact > 255 ? 255 : impact), sum->bits};
                sum->n_rows++;
                sum->share = 0;
                sum->bits = 0;
                sum->row = -1;
            }
            n_touched = 0;
        }
        if (k == m)
            break;
        TermSum *sum = &sums[terms[k]];
        if (sum->row != rows[source]) {
            sum->row = rows[source];
            touched[n_touched++] = terms[k];
        }
        sum->share += shares[source];
        sum->bits |= bits[source];
    }
    return found;
}

/* make_postings(sources, terms, rows, bits, shares, hashes, n_rows, saturation, scale, out_hashes, out_start, out_rows,
 *               out_impacts, out_bits) -> (how many terms, how many postings) */
static PyObject *make_postings(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t m = -1, n = -1, n_terms = -1, n_starts;
    if (!has_arguments(given, 14))
        return NULL;
    const int32_t *sources = items(&arrays, arguments[0], 'i', &m);
    const int32_t *terms = sources ? items(&arrays, arguments[1], 'i', &m) : NULL;
    const int32_t *rows = terms ? items(&arrays, arguments[2], 'i', &n) : NULL;
    const uint8_t *bits = rows ? items(&arrays, arguments[3], 'o', &n) : NULL;
    const double *shares = bits ? items(&arrays, arguments[4], 'd', &n) : NULL;
    const uint64_t *hashes = shares ? items(&arrays, arguments[5], 'u', &n_terms) : NULL;
    Py_ssize_t n_rows = hashes ? PyLong_AsSsize_t(arguments[6]) : 0;
    double saturation = hashes && !PyErr_Occurred() ? PyFloat_AsDouble(arguments[7]) : 0;
    double scale = hashes && !PyErr_Occurred() ? PyFloat_AsDouble(arguments[8]) : 0;
    uint64_t *out_hashes = hashes && !PyErr_Occurred() ? items(&arrays, arguments[9], 'U', &n_terms) : NULL;
    n_starts = n_terms + 1;
    int64_t *out_start = out_hashes ? items(&arrays, arguments[10], 'Q', &n_starts) : NULL;
    int32_t *out_rows = out_start ? items(&arrays, arguments[11], 'I', &m) : NULL;
    uint8_t *out_impacts = out_rows ? items(&arrays, arguments[12], 'O', &m) : NULL;
    uint8_t *out_bits = out_impacts ? items(&arrays, arguments[13], 'O', &m) : NULL;
    if (!out_bits)
        return failed(&arrays);
    TermSum *sums = malloc(((size_t)n_terms + 1) * sizeof(TermSum));
    int32_t *touched = malloc(((size_t)n_terms + 1) * sizeof(int32_t));
    Posting *postings = malloc(((size_t)m + 1) * sizeof(Posting));
    HashedTerm *used = malloc(((size_t)n_terms + 1) * sizeof(HashedTerm));
    int64_t *places = malloc(((size_t)n_terms + 1) * sizeof(int64_t));
    Py_ssize_t found = -1, n_used = 0;
    int has_memory = sums && touched && postings && used && places;
    if (has_memory) {
        for (Py_ssize_t term = 0; term < n_terms; term++)
            sums[term] = (TermSum){0, -1, 0, 0};
        Py_BEGIN_ALLOW_THREADS
        found = add_shares(sources, terms, m, rows, bits, shares, n, n_terms, n_rows, saturation, scale, sums, touched,
                           postings);
        for (Py_ssize_t term = 0; found >= 0 && term < n_terms; term++)
            if (sums[term].n_rows)
                used[n_used++] = (HashedTerm){hashes[term], (int32_t)term};
        qsort(used, (size_t)n_used, sizeof(HashedTerm), compare_hashes);
        int64_t start = 0;
        for (Py_ssize_t i = 0; i < n_used; i++) {
            out_hashes[i] = used[i].hash;
            out_start[i] = places[used[i].term] = start;
            start += sums[used[i].term].n_rows;
        }
        out_start[n_used] = start;
        for (Py_ssize_t i = 0; i < found; i++) {
            int64_t place = places[postings[i].term]++;
            out_rows[place] = postings[i].row;
            out_impacts[place] = postings[i].impact;
            out_bits[place] = postings[i].bits;
        }
        Py_END_ALLOW_THREADS
    }
    free(sums);
    free(touched);
    free(postings);
    free(used);
    free(places);
    if (!has_memory)
        return no_memory(&arrays);
    if (found < 0)
        return out_of_range(&arrays);
    let_go(&arrays);
    return Py_BuildValue("nn", n_used, found);
}

/* -- pasted text --------------------------------------------------------------------------------------------------- */

static int is_ascii_word_byte(const char *data, Py_ssize_t place, Py_ssize_t n)
{
    return place >= 0 && place < n && (unsigned char)data[place] < 128 && is_word_byte((unsigned char)data[place]);
}

/* Find where a text stands in some data and is no part of a longer word. Returns how many places, `most` at most. */
static Py_ssize_t find_places(const char *data, Py_ssize_t n, const char *text, Py_ssize_t length, Py_ssize_t most,
                              int64_t *places)
{
    Py_ssize_t found = 0, place = 0;
    while (found < most && place <= n - length) {
        const char *next = memchr(data + place, text[0], (size_t)(n - length + 1 - place));
        if (!next)
            break;
        place = next - data;
        int is_inside = is_ascii_word_byte(data, place - 1, n);
        if (!is_inside && !memcmp(next, text, (size_t)length) && !is_ascii_word_byte(data, place + length, n))
            places[found++] = place;
        do
            place++;
        while (is_inside && is_ascii_word_byte(data, place - 1, n));  /* on to where the word ends */
    }
    return found;
}

/* find_runs(data, text, bounds, may_hold, counts, most, out) -> how many; `bounds` has the begin and the end of each word
 * in the text, `out` room for `most` runs of each, as (offset, first, last) */
static PyObject *find_runs(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1, length = -1, n_bounds = -1;
    if (!has_arguments(given, 7))
        return NULL;
    const char *data = items(&arrays, arguments[0], 'o', &n);
    const char *text = data ? items(&arrays, arguments[1], 'o', &length) : NULL;
    const int64_t *bounds = text ? items(&arrays, arguments[2], 'q', &n_bounds) : NULL;
    Py_ssize_t n_words = n_bounds / 2, n_out;
    const uint8_t *may_hold = bounds ? items(&arrays, arguments[3], 'o', &n_words) : NULL;
    const uint8_t *counts = may_hold ? items(&arrays, arguments[4], 'o', &n_words) : NULL;
    Py_ssize_t most = counts ? PyLong_AsSsize_t(arguments[5]) : 0;
    if (!counts || PyErr_Occurred())
        return failed(&arrays);
    if (most < 1 || most > 64)
        return out_of_range(&arrays);
    n_out = 3 * most * n_words;
    int64_t *out = items(&arrays, arguments[6], 'Q', &n_out), places[64], further[64];
    if (!out)
        return failed(&arrays);
    for (Py_ssize_t word = 0; word < n_words; word++)
        if (bounds[2 * word] < (word ? bounds[2 * word - 1] : 0) || bounds[2 * word + 1] <= bounds[2 * word]
            || bounds[2 * word + 1] > length)
            return out_of_range(&arrays);
    Py_ssize_t found = 0;
    for (Py_ssize_t first = 0, last; first < n_words; first = last + 1) {
        Py_ssize_t n_places = 0;
        last = counts[first] || first == n_words - 1 ? first : first + 1;  /* a common word says nothing alone */
        const char *begin = text + bounds[2 * first];
        if (may_hold[first] && may_hold[last])
            n_places = find_places(data, n, begin, text + bounds[2 * last + 1] - begin, most, places);
        if (!n_places)
            last = first;
        while (n_places && last + 1 < n_words && may_hold[last + 1]) {
            Py_ssize_t n_further = find_places(data, n, begin, text + bounds[2 * last + 3] - begin, most, further);
            if (!n_further)
                break;
            memcpy(places, further, (size_t)n_further * sizeof(int64_t));
            n_places = n_further;
            last++;
        }
        for (Py_ssize_t i = 0; (last > first || counts[first]) && i < n_places; i++) {
            out[3 * found] = places[i];
            out[3 * found + 1] = first;
            out[3 * found++ + 2] = last;
        }
    }
    let_go(&arrays);
    return PyLong_FromSsize_t(found);
}

/* -- previews ------------------------------------------------------------------------------------------------------ */

static int is_ascii_space(char byte)
{
    return byte == ' ' || (byte >= 9 && byte <= 13) || (byte >= 28 && byte <= 31);  /* as str.rstrip() has it */
}

/* first_lines(data, start, n_lines, most_bytes, most_chars) -> lines from that around an offset on, each cut and without
 * the blanks at its end; None if they are not ASCII. All of them together have n_lines * most_bytes bytes at most. */
static PyObject *first_lines(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    Arrays arrays = {.count = 0};
    Py_ssize_t n = -1;
    if (!has_arguments(given, 5))
        return NULL;
    const char *data = items(&arrays, arguments[0], 'o', &n);
    Py_ssize_t start = data ? PyLong_AsSsize_t(arguments[1]) : 0;
    Py_ssize_t n_lines = data && !PyErr_Occurred() ? PyLong_AsSsize_t(arguments[2]) : 0;
    Py_ssize_t most_bytes = data && !PyErr_Occurred() ? PyLong_AsSsize_t(arguments[3]) : 0;
    Py_ssize_t most_chars = data && !PyErr_Occurred() ? PyLong_AsSsize_t(arguments[4]) : 0;
    if (!data || PyErr_Occurred())
        return failed(&arrays);
    if (start < 0 || start > n || n_lines < 1 || n_lines > 1000 || most_bytes < 0 || most_bytes > 100000 || most_chars < 0
        || most_chars > most_bytes)
        return out_of_range(&arrays);
    while (start > 0 && data[start - 1] != '\n')
        start--;
    Py_ssize_t end = n - start > n_lines * most_bytes ? start + n_lines * most_bytes : n, used = 0;
    char *lines = malloc((size_t)(n_lines * (most_chars + 1)));
    if (!lines)
        return no_memory(&arrays);
    int is_ascii = 1;
    for (Py_ssize_t line = 0; is_ascii && line < n_lines; line++) {
        const char *stop = memchr(data + start, '\n', (size_t)(end - start));
        Py_ssize_t next = stop ? stop - data : end, last = next - start < most_bytes ? next : start + most_bytes;
        for (Py_ssize_t i = start; is_ascii && i < last; i++)
            is_ascii = (unsigned char)data[i] < 128;
        while (last > start && is_ascii_space(data[last - 1]))
            last--;
        Py_ssize_t length = last - start < most_chars ? last - start : most_chars;
        if (line)
            lines[used++] = '\n';
        memcpy(lines + used, data + start, (size_t)length);
        used += length;
        if (!stop)
            break;
        start = next + 1;
    }
    PyObject *result = NULL;
    if (is_ascii)
        result = PyUnicode_DecodeASCII(lines, used, NULL);
    free(lines);
    let_go(&arrays);
    if (is_ascii)
        return result;
    Py_RETURN_NONE;
}

/* -- files --------------------------------------------------------------------------------------------------------- */

#if defined(__linux__) && !defined(SYS_openat2) && (defined(__x86_64__) || defined(__aarch64__))
#define SYS_openat2 437  /* the headers are older than Linux 5.6 */
#endif

#ifdef SYS_openat2
#define RESOLVE_BELOW 0x0e  /* RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH of linux/openat2.h */

/* Read a regular file below a folder that follows no link. Returns its size, -1 if that needs a closer look. */
static Py_ssize_t read_regular(const char *root, const char *path, Py_ssize_t most, char **content)
{
    struct {
        uint64_t flags, mode, resolve;
    } how = {O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0, RESOLVE_BELOW};
    struct stat status;
    Py_ssize_t size = -1;
    int folder = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0)
        return -1;
    int file = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    close(folder);
    if (file < 0)
        return -1;
    if (!fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size <= most
        && (*content = malloc((size_t)status.st_size + 1)))
        size = read(file, *content, (size_t)status.st_size + 1);  /* one more than there is, unless it grows */
    close(file);
    return size >= 0 && size == status.st_size ? size : -1;
}
#endif

/* read_below(root, path, most) -> the file's content, None where that needs a closer look: an error, an odd or a larger
 * file, a system that cannot open below a folder */
static PyObject *read_below(PyObject *self, PyObject *const *arguments, Py_ssize_t given)
{
    if (!has_arguments(given, 3))
        return NULL;
    Py_ssize_t most = PyLong_AsSsize_t(arguments[2]);
    if (PyErr_Occurred())
        return NULL;
#ifdef SYS_openat2
    PyObject *root = NULL, *path = NULL, *result = NULL;
    if (PyUnicode_FSConverter(arguments[0], &root) && PyUnicode_FSConverter(arguments[1], &path)) {
        const char *root_bytes = PyBytes_AsString(root), *path_bytes = PyBytes_AsString(path);
        char *content = NULL;
        Py_ssize_t size;
        Py_BEGIN_ALLOW_THREADS
        size = read_regular(root_bytes, path_bytes, most, &content);
        Py_END_ALLOW_THREADS
        if (size >= 0 && !(result = PyBytes_FromStringAndSize(content, size)))
            PyErr_Clear();  /* the closer look runs out of memory as well */
        free(content);
    } else {
        PyErr_Clear();  /* a path that no file has; the closer look says so */
    }
    Py_XDECREF(root);
    Py_XDECREF(path);
    if (result)
        return result;
#endif
    Py_RETURN_NONE;
}

/* -- the module --------------------------------------------------------------------------------------------------- */

#define FUNCTION(name) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, NULL}

static PyMethodDef functions[] = {
    FUNCTION(cosines),
    FUNCTION(pair_products),
    FUNCTION(find_terms),
    FUNCTION(take_postings),
    FUNCTION(count_shown),
    FUNCTION(sum_occurrences),
    FUNCTION(file_lexical),
    FUNCTION(add_up),
    FUNCTION(best_files),
    FUNCTION(chunk_features),
    FUNCTION(term_features),
    FUNCTION(predict),
    FUNCTION(one_of_each),
    FUNCTION(count_words),
    FUNCTION(make_postings),
    FUNCTION(split_identifiers),
    FUNCTION(split_words),
    FUNCTION(find_runs),
    FUNCTION(first_lines),
    FUNCTION(read_below),
    {NULL, NULL, 0, NULL},
};

static int add_version(PyObject *module)
{
    return PyModule_AddIntConstant(module, "VERSION", VERSION);
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, add_version}, {0, NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "cairn.kernels._compiled", NULL, 0, functions, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__compiled(void)
{
    return PyModuleDef_Init(&module);
}
