pub mod money;
mod app;

pub use money::Purse;
