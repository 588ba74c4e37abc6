// Each method is cut at its one line marked `<` (backward) or `>` (forward), with the variable behind the mark if
// there is one. The slice is exactly that line and the lines marked `*`. All was worked out by hand.

class Slices {
  int straightLine(int a, int b, int c) { //*
    int x = a + b; //*
    int y = c * 2;
    int z = x + 1; //*
    log(y);
    return z; //<
  }

  int loopSum(List<Integer> items) { //*
    int total = 0; //*
    int count = 0;
    for (int item : items) { //*
      total += item; //*
      count++;
    }
    log(count);
    return total; //<
  }

  int classicFor(int[] items) { //*
    int total = 0; //*
    int last = 0;
    for (int i = 0; i < items.length; i++) { //*
      total += items[i]; //*
      last = i;
    }
    log(last);
    return total; //<
  }

  int skipWithContinue(int[] items) { //*
    int total = 0; //*
    int skipped = 0;
    for (int item : items) { //*
      if (item < 0) { //*
        skipped++;
        continue; //*
      }
      total += item; //*
    }
    log(skipped);
    return total; //<
  }

  int endlessWithBreak(Queue<Integer> items, int limit) { //*
    int total = 0; //*
    int last = 0;
    while (true) { //*
      int item = items.poll(); //*
      total += item; //*
      last = item;
      if (total > limit) { //*
        break; //*
      }
    }
    log(last);
    return total; //<
  }

  int doWhile(int n) { //*
    int steps = 0; //*
    int last = 0;
    do {
      last = n;
      n = n / 2; //*
      steps++; //*
    } while (n > 0); //*
    log(last);
    return steps; //<
  }

  int earlyReturn(Integer value) { //*
    if (value == null) return 0; //*
    int doubled = value * 2; //*
    String text = String.valueOf(value);
    log(text);
    return doubled; //<
  }

  int elseIf(boolean flag, int a, int b) { //*
    int x;
    int y = 0;
    if (flag) { //*
      x = a; //*
      y = b;
    } else if (a > b) { //*
      x = b; //*
    } else {
      x = 0; //*
      y = 1;
    }
    log(y);
    return x; //<
  }

  int switchFallThrough(String kind) { //*
    int size = 0; //*
    String name = "";
    switch (kind) { //*
      case "large": //*
        size += 10; //*
      case "medium": //*
        size += 5; //*
        break;
      case "small":
        name = "s";
    }
    log(name);
    return size; //<
  }

  int switchRules(String kind) { //*
    int size = 0; //*
    String name = "";
    switch (kind) { //*
      case "large" -> size = 10; //*
      case "small" -> {
        name = "s";
      }
      default -> { //*
        size = 1; //*
      }
    }
    log(name);
    return size; //<
  }

  String tryCatchFinally(String path) { //*
    String data;
    int lines = 0;
    try { //*
      data = load(path); //*
      lines = count(path);
    } catch (IOException error) { //*
      data = "none"; //*
      report(error);
    } finally {
      lines = 0;
    }
    return data; //<
  }

  String returnThroughFinally(String path) { //*
    int closed = 0;
    try {
      return load(path); //<
    } finally {
      closed++;
    }
  }

  String resources(String path) throws IOException { //*
    int size = 0;
    try (Reader reader = open(path)) { //*
      String text = reader.read(); //*
      size = text.length();
      log(size);
      return text; //<
    }
  }

  int throwing(int value) { //*
    String text = String.valueOf(value); //*
    int twice = value * 2;
    if (value < 0) { //*
      throw new IllegalArgumentException(text); //<
    }
    return twice;
  }

  int guarded(int value) { //*
    int twice = value * 2; //*
    String text = "negative"; //*
    if (value < 0) { //*
      throw new IllegalArgumentException(text); //*
    }
    log(value);
    return twice; //<
  }

  int fieldWrites(int a, int b) { //*
    this.left = a; //*
    this.right = b;
    return this.left; //<
  }

  int[] elementWrites(int[] names) { //*
    int[] table = new int[names.length]; //*
    int[] other = new int[names.length];
    for (int i = 0; i < names.length; i++) { //*
      table[i] = names[i]; //*
      other[i] = 0;
    }
    return table; //<
  }

  List<String> collected(List<String> names) { //*
    List<String> kept = new ArrayList<>(); //*
    List<String> dropped = new ArrayList<>();
    for (String name : names) { //*
      if (name.isEmpty()) { //*
        dropped.add(name);
      } else {
        kept.add(name); //*
      }
    }
    log(dropped);
    return kept; //<
  }

  Runnable closure(int a, int b) { //*
    int used = a + 1; //*
    int unused = b + 1;
    Runnable task = () -> log(used); //*
    log(unused);
    return task; //<
  }

  int labelled(int[][] rows) { //*
    int found = -1; //*
    int seen = 0;
    outer:
    for (int[] row : rows) { //*
      for (int cell : row) { //*
        seen++;
        if (cell > 9) { //*
          found = cell; //*
          break outer; //*
        }
      }
    }
    log(seen);
    return found; //<
  }

  int oneVariable(int a, int b) { //*
    int x = a + 1; //*
    int y = b + 2;
    return x * y; //<x
  }

  int forwardFrom(int a, int b) { //*
    int x = a; //>
    int y = b;
    int z = x + y; //*
    if (z > 3) { //*
      y = 0; //*
    }
    log(b);
    return y; //*
  }
}
