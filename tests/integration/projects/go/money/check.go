package money

func (p *Purse) check(n int) { fee(n) }

func fee(n int) int { return n }

func Open() *Purse { return &Purse{} }
