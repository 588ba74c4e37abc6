pub struct Purse { sum: u32 }

impl Purse {
    pub fn open() -> Self { Purse { sum: 0 } }
    pub fn pay(&self, n: u32) -> u32 { self.fee_of(n) }
    fn fee_of(&self, n: u32) -> u32 { fee(n) }
}

pub fn fee(n: u32) -> u32 { n }
