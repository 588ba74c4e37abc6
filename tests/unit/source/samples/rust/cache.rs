//! A cache with expiry.

use std::{collections::HashMap, fmt};

/// How long an entry lives.
pub const TTL: u64 = 60;
const _: () = assert!(TTL > 0);
static mut HITS: usize = 0;

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What can go wrong.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Error {
    Expired,
    Missing { key: String },
}

// Entries are cheap to copy.
#[derive(
    Debug,
    Clone,
)]
pub(crate) struct Entry<'a, V: ?Sized>
where
    V: 'a,
{
    value: &'a V,
    until: u64,
}

pub struct Unit;
pub struct Pair(u8, pub u8);

#[repr(C)]
union Bits {
    word: u32,
    bytes: [u8; 4],
}

/// Keeps values.
pub trait Store<K>: Send {
    type Value: Clone;
    const LIMIT: usize = 10;

    fn get(&self, key: &K) -> Option<&Self::Value>;
    /// Number of entries.
    fn len(&self) -> usize { 0 }
}

pub struct Cache<K, V> {
    map: HashMap<K, V>,
}

impl<K, V> Cache<K, V>
where
    K: std::hash::Hash + Eq,
{
    const STEP: usize = 1;

    /// Make an empty cache.
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        fn helper() -> usize { const LOCAL: usize = 3; LOCAL }
        let add = |n: usize| n + helper();
        add(1);
        Self { map: HashMap::new() }
    }

    #[cfg(
        feature = "async",
    )]
    pub async unsafe fn load<'a>(&'a mut self, key: K) -> Result<&'a V> {
        Err(Error::Expired)
    }
}

impl<K: Send, V: Clone + Send> Store<K> for Cache<K, V> {
    type Value = V;

    fn get(&self, _key: &K) -> Option<&V> { None }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self { Error::Expired => write!(f, "expired"), _ => Ok(()) }
    }
}

impl<T> From<T> for self::Pair { fn from(_: T) -> Self { Pair(0, 0) } }
impl<T: fmt::Debug> Store<T> for [T] { type Value = (); fn get(&self, _: &T) -> Option<&()> { None } }
impl dyn Store<u8, Value = u8> { fn boxed(self: Box<Self>) {} }
unsafe impl Send for &mut Unit {}

macro_rules! entry {
    ($value:expr) => { Entry { value: $value, until: TTL } };
}

extern "C" {
    pub fn clock_now(zone: *const u8) -> u64;
    static ZONE: u8;
}

mod remote;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expires() { assert_eq!(TTL, 60); }
}
