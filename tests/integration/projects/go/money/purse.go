package money

type Purse struct{ sum int }

func (p *Purse) Pay(n int) { p.check(n) }
