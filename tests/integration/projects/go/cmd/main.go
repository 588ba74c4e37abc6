package main

import (
	"fmt"
	m "example.org/shop/money"
)

type app struct {
	purse *m.Purse
}

func (a *app) run() { a.purse.Pay(1) }

func main() {
	x := &app{purse: m.Open()}
	x.run()
	fmt.Println(x)
}
