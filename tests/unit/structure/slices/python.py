# Each function is cut at its one line marked `<` (backward) or `>` (forward), with the variable behind the mark if
# there is one. The slice is exactly that line and the lines marked `*`. All was worked out by hand.


def straight_line(a, b, c):  #*
    x = a + b  #*
    y = c * 2
    z = x + 1  #*
    w = y + z
    print(w)
    return z  #<


def loop_sum(items):  #*
    total = 0  #*
    count = 0
    for item in items:  #*
        total += item  #*
        count += 1
    print(count)
    return total  #<


def skip_with_continue(items):  #*
    total = 0  #*
    skipped = 0
    for item in items:  #*
        if item < 0:  #*
            skipped += 1
            continue  #*
        total += item  #*
    log(skipped)
    return total  #<


def stop_with_break(items, limit):  #*
    total = 0  #*
    last = None
    for item in items:  #*
        total += item  #*
        last = item
        if total > limit:  #*
            break  #*
    log(last)
    return total  #<


def early_return(value, default):  #*
    if value is None:  #*
        return default  #*
    doubled = value * 2  #*
    text = str(value)
    log(text)
    return doubled  #<


def branches(flag, a, b):  #*
    if flag:  #*
        x = a  #*
        y = b
    elif a > b:  #*
        x = b  #*
        y = a
    else:
        x = 0  #*
        y = 0
    print(y)
    return x  #<


def overwritten(a):  #*
    x = a
    x = 5  #*
    y = a
    return x  #<


def try_except_finally(path):  #*
    data = None
    lines = 0
    try:  #*
        data = load(path)  #*
        lines = count(path)
    except OSError as error:  #*
        data = ""  #*
        report(error)
    finally:
        lines = 0
    return data  #<


def raised_in_loop(items):  #*
    good = []  #*
    bad = 0
    for item in items:  #*
        try:  #*
            value = int(item)  #*
        except ValueError:  #*
            bad += 1
            continue  #*
        good.append(value)  #*
    print(bad)
    return good  #<


def attribute_writes(self, a, b):  #*
    self.left = a  #*
    self.right = b
    self.sum = a + b
    return self.left  #<


def element_writes(names):  #*
    table = {}  #*
    other = {}
    for name in names:  #*
        table[name] = len(name)  #*
        other[name] = 0
    return table  #<


def nested_function(items):  #*
    factor = 2  #*
    unused = 3

    def scale(item):  #*
        return item * factor  #*

    log(unused)
    return [scale(item) for item in items]  #<


def comprehension_scope(rows):  #*
    row = 1
    cells = [row for row in rows]  #*
    print(row)
    return cells  #<


def unpacking(pair):  #*
    left, right = pair  #*
    first, *rest = right
    log(first)
    return left  #<


def while_else(n):  #*
    found = None
    tries = 0
    while n > 1:  #*
        tries += 1
        if n % 7 == 0:  #*
            found = n  #*
            break  #*
        n -= 1  #*
    else:
        found = 0  #*
    print(tries)
    return found  #<


def nonlocal_write(items):  #*
    count = 0  #*
    other = 0

    def step():  #*
        nonlocal count  #*
        count += 1  #*

    for item in items:  #*
        step()  #*
        other += item
    print(other)
    return count  #<


def with_statement(path):  #*
    size = 0
    with open(path) as file:  #*
        text = file.read()  #*
        size = len(text)
    print(size)
    return text  #<


def match_statement(event):  #*
    kind = "none"  #*
    seen = 0
    match event:  #*
        case {"kind": "key"}:
            seen = 1
        case Click(name):  #*
            kind = name  #*
        case _:
            seen = 2
    print(seen)
    return kind  #<


def one_variable(a, b):  #*
    x = a + 1  #*
    y = b + 2
    return x, y  #<x


def forward_from(a, b):  #*
    x = a  #>
    y = b
    z = x + y  #*
    if z > 3:  #*
        y = 0  #*
    w = b
    print(w)
    return y  #*


def generator(items):  #*
    previous = None  #*
    seen = 0
    for item in items:  #*
        seen += 1
        if item != previous:  #*
            yield item  #<
        previous = item  #*


def element_of_a_call(items, number, other):  #*
    place = number + 1  #*
    other = other + 1
    found = items.chosen(place)[0]  #*
    print(other)
    return found  #<
