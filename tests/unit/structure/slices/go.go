// Each function is cut at its one line marked `<` (backward) or `>` (forward), with the variable behind the mark if
// there is one. The slice is exactly that line and the lines marked `*`. All was worked out by hand.

package slices

func straightLine(a, b, c int) int { //*
	x := a + b //*
	y := c * 2
	z := x + 1 //*
	fmt.Println(y)
	return z //<
}

func loopSum(items []int) int { //*
	total := 0 //*
	count := 0
	for _, item := range items { //*
		total += item //*
		count++
	}
	fmt.Println(count)
	return total //<
}

func classicFor(items []int) int { //*
	total, last := 0, 0 //*
	for i := 0; i < len(items); i++ { //*
		total += items[i] //*
		last = i
	}
	fmt.Println(last)
	return total //<
}

func whileLoop(n int) int { //*
	steps := 0 //*
	last := 0
	for n > 0 { //*
		last = n
		n = n / 2 //*
		steps++ //*
	}
	fmt.Println(last)
	return steps //<
}

func skipWithContinue(items []int) int { //*
	total := 0 //*
	skipped := 0
	for _, item := range items { //*
		if item < 0 { //*
			skipped++
			continue //*
		}
		total += item //*
	}
	fmt.Println(skipped)
	return total //<
}

func endlessWithBreak(items chan int, limit int) int { //*
	total := 0 //*
	last := 0
	for { //*
		item := <-items //*
		total += item //*
		last = item
		if total > limit { //*
			break //*
		}
	}
	fmt.Println(last)
	return total //<
}

func earlyReturn(value *int) int { //*
	if value == nil { //*
		return 0 //*
	}
	doubled := *value * 2 //*
	text := fmt.Sprint(value)
	fmt.Println(text)
	return doubled //<
}

func errorReturn(path string) (string, error) { //*
	data, err := load(path) //*
	if err != nil { //*
		return "", err //*
	}
	lines := count(data)
	fmt.Println(lines)
	return data, nil //<
}

func elseIf(flag bool, a, b int) int { //*
	x := 0
	y := 0
	if flag { //*
		x = a //*
		y = b
	} else if a > b { //*
		x = b //*
	} else {
		x = 1 //*
		y = 1
	}
	fmt.Println(y)
	return x //<
}

func ifWithInitializer(table map[string]int, key string) int { //*
	size := 0 //*
	misses := 0
	if value, ok := table[key]; ok { //*
		size = value //*
	} else {
		misses++
	}
	fmt.Println(misses)
	return size //<
}

func switchCases(kind string) int { //*
	size := 0 //*
	name := ""
	switch kind { //*
	case "large": //*
		size = 10 //*
	case "small":
		name = "s"
	}
	fmt.Println(name)
	return size //<
}

func switchFallThrough(kind string) int { //*
	size := 0 //*
	name := ""
	switch kind { //*
	case "large": //*
		size += 10 //*
		fallthrough //*
	case "medium": //*
		size += 5 //*
	case "small":
		name = "s"
	}
	fmt.Println(name)
	return size //<
}

func typeSwitch(value any) string { //*
	text := "" //*
	size := 0
	switch typed := value.(type) { //*
	case string: //*
		text = typed //*
	case int:
		size = typed
	}
	fmt.Println(size)
	return text //<
}

func labelledBreak(rows [][]int) int { //*
	found := -1 //*
	seen := 0
outer:
	for _, row := range rows { //*
		for _, cell := range row { //*
			seen++
			if cell > 9 { //*
				found = cell //*
				break outer //*
			}
		}
	}
	fmt.Println(seen)
	return found //<
}

func fieldWrites(state *State, a, b int) int { //*
	state.left = a //*
	state.right = b
	return state.left //<
}

func elementWrites(names []string) map[string]int { //*
	table := map[string]int{} //*
	other := map[string]int{}
	for _, name := range names { //*
		table[name] = len(name) //*
		other[name] = 0
	}
	return table //<
}

func appending(items []int) []int { //*
	var kept []int //*
	var dropped []int
	for _, item := range items { //*
		if item > 0 { //*
			kept = append(kept, item) //*
		} else {
			dropped = append(dropped, item)
		}
	}
	fmt.Println(dropped)
	return kept //<
}

func closureWrites(items []int) int { //*
	total := 0 //*
	count := 0
	add := func(item int) { //*
		total += item //*
	} //*
	for _, item := range items { //*
		add(item) //*
		count++
	}
	fmt.Println(count)
	return total //<
}

func twoResults(pair Pair) int { //*
	left, right := split(pair) //*
	other := right * 2
	fmt.Println(other)
	return left //<
}

func oneVariable(a, b int) (int, int) { //*
	x := a + 1 //*
	y := b + 2
	return x, y //<x
}

func forwardFrom(a, b int) int { //*
	x := a //>
	y := b
	z := x + y //*
	if z > 3 { //*
		y = 0 //*
	}
	fmt.Println(b)
	return y //*
}
