use crate::money::{self, Purse};

pub trait Closing { fn close(&self); }

pub struct App { purse: Purse }

impl Closing for App {
    fn close(&self) { self.purse.pay(1); }
}

fn run(app: &App) { let p = Purse::open(); p.pay(2); money::fee(3); app.close(); }
