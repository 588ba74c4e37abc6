// Each function is cut at its one line marked `<` (backward) or `>` (forward), with the variable behind the mark if
// there is one. The slice is exactly that line and the lines marked `*`. All was worked out by hand.

function straightLine(a: number, b: number, c: number): number { //*
  const x = a + b; //*
  const y = c * 2;
  const z = x + 1; //*
  console.log(y);
  return z; //<
}

function loopSum(items: number[]): number { //*
  let total = 0; //*
  let count = 0;
  for (const item of items) { //*
    total += item; //*
    count += 1;
  }
  console.log(count);
  return total; //<
}

function classicFor(items: number[]): number { //*
  let total = 0; //*
  let last = 0;
  for (let i = 0; i < items.length; i++) { //*
    total += items[i]; //*
    last = i;
  }
  console.log(last);
  return total; //<
}

function skipWithContinue(items: number[]): number { //*
  let total = 0; //*
  let skipped = 0;
  for (const item of items) { //*
    if (item < 0) { //*
      skipped++;
      continue; //*
    }
    total += item; //*
  }
  console.log(skipped);
  return total; //<
}

function stopWithBreak(items: number[], limit: number): number { //*
  let total = 0; //*
  let last = 0;
  for (const item of items) { //*
    total += item; //*
    last = item;
    if (total > limit) { //*
      break; //*
    }
  }
  console.log(last);
  return total; //<
}

function earlyReturn(value: number | null, fallback: number): number { //*
  if (value === null) return fallback; //*
  const doubled = value * 2; //*
  const text = String(value);
  console.log(text);
  return doubled; //<
}

function elseIf(flag: boolean, a: number, b: number): number { //*
  let x;
  let y = 0;
  if (flag) { //*
    x = a; //*
    y = b;
  } else if (a > b) { //*
    x = b; //*
  } else {
    x = 0; //*
    y = 1;
  }
  console.log(y);
  return x; //<
}

function switchFallThrough(kind: string): number { //*
  let size = 0; //*
  let name = "";
  switch (kind) { //*
    case "large": //*
      size += 10; //*
    case "medium": //*
      size += 5; //*
      break; //*
    case "small": //*
      name = "s";
      break; //*
    default: //*
      size = 1; //*
  }
  console.log(name);
  return size; //<
}

function switchOtherCase(kind: string): string { //*
  let size = 0;
  let name = ""; //*
  switch (kind) { //*
    case "large": //*
      size = 10;
      break; //*
    case "small": //*
      name = "s"; //*
      break;
  }
  console.log(size);
  return name; //<
}

function tryCatchFinally(path: string): string { //*
  let data = "";
  let lines = 0;
  try { //*
    data = load(path); //*
    lines = count(path);
  } catch (error) { //*
    data = "none"; //*
    report(error);
  } finally {
    lines = 0;
  }
  return data; //<
}

function throwing(value: number): number { //*
  const text = String(value); //*
  if (value < 0) { //*
    throw new Error(text); //<
  }
  return value;
}

function destructuring(point: { x: number; y: number }): number { //*
  const { x, y: vertical } = point; //*
  const [first] = [vertical];
  console.log(first);
  return x; //<
}

function attributeWrites(state: { left: number; right: number }, a: number, b: number): number { //*
  state.left = a; //*
  state.right = b;
  return state.left; //<
}

function elementWrites(names: string[]): Record<string, number> { //*
  const table: Record<string, number> = {}; //*
  const other: Record<string, number> = {};
  for (const name of names) { //*
    table[name] = name.length; //*
    other[name] = 0;
  }
  return table; //<
}

function closure(items: number[]): number[] { //*
  const factor = 2; //*
  const unused = 3;
  const scale = (item: number) => item * factor; //*
  console.log(unused);
  return items.map(scale); //<
}

function closureWrites(items: number[]): number { //*
  let total = 0; //*
  let count = 0;
  items.forEach((item) => { //*
    total += item; //*
  }); //*
  count += 1;
  return total; //<
}

function hoisted(items: number[]): number { //*
  let calls = 0; //*
  let other = 0;
  for (const item of items) { //*
    other += item;
    note(); //*
  }
  function note() { //*
    calls += 1; //*
  } //*
  console.log(other);
  return calls; //<
}

function labelled(rows: number[][]): number { //*
  let found = -1; //*
  let seen = 0;
  outer: for (const row of rows) { //*
    for (const cell of row) { //*
      seen += 1;
      if (cell > 9) { //*
        found = cell; //*
        break outer; //*
      }
    }
  }
  console.log(seen);
  return found; //<
}

function doWhile(n: number): number { //*
  let steps = 0; //*
  let last = 0;
  do {
    last = n;
    n = n >> 1; //*
    steps++; //*
  } while (n > 0); //*
  console.log(last);
  return steps; //<
}

function oneVariable(a: number, b: number): number[] { //*
  const x = a + 1; //*
  const y = b + 2;
  return [x, y]; //<x
}

function forwardFrom(a: number, b: number): number { //*
  const x = a; //>
  let y = b;
  const z = x + y; //*
  if (z > 3) { //*
    y = 0; //*
  }
  console.log(b);
  return y; //*
}
