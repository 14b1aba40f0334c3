//! Numbers that are unique: of parameters, and for whoever needs one.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

pub use crate::stream::StreamId;
use crate::sync::Mutex;

/// Makes unique numbers.
#[derive(Debug)]
pub struct IdGenerator;

impl IdGenerator {
    /// A number never returned before in this process.
    ///
    /// With `std` a second process starts elsewhere, so that numbers of two processes meet only by
    /// chance. Without `std` the start is fixed by where the program is loaded.
    pub fn generate() -> u64 {
        static NEXT: Mutex<Option<u64>> = Mutex::new(None);
        let mut next = NEXT.lock();
        let state = next.unwrap_or_else(|| seed(&raw const NEXT as usize));
        // Steps by 2^64 / golden ratio and mixes: both are bijections, so that numbers repeat
        // only after 2^64 calls (SplitMix64; Steele, Lea, Flood 2014).
        *next = Some(state.wrapping_add(0x9E37_79B9_7F4A_7C15));
        mix(state)
    }
}

fn mix(state: u64) -> u64 {
    let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(feature = "std")]
fn seed(address: usize) -> u64 {
    use core::hash::{BuildHasher, Hasher};
    // The keys of `RandomState` come from the system; its hasher mixes in the rest.
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_usize(address);
    #[cfg(not(all(target_family = "wasm", target_os = "unknown")))]
    {
        hasher.write_u32(std::process::id());
        if let Ok(time) = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH) {
            hasher.write_u128(time.as_nanos());
        }
    }
    hasher.finish()
}

#[cfg(not(feature = "std"))]
fn seed(address: usize) -> u64 {
    address as u64
}

/// Names a parameter of a model for its whole life, across saving and loading.
///
/// Its text is 13 digits of base 32 (RFC 4648 section 7, lower case) over the little-endian bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParamId(u64);

const DIGITS: &[u8; 32] = b"0123456789abcdefghijklmnopqrstuv";

/// Digits of 5 bits that hold 64 bits; the last one holds 4 and a zero.
const TEXT_LEN: usize = 13;

impl ParamId {
    /// A new name.
    pub fn new() -> Self {
        Self(IdGenerator::generate())
    }

    /// The name as a number.
    pub fn val(&self) -> u64 {
        self.0
    }
}

impl Default for ParamId {
    fn default() -> Self {
        Self::new()
    }
}

impl From<u64> for ParamId {
    fn from(value: u64) -> Self {
        Self(value)
    }
}

impl fmt::Display for ParamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The first byte leads the text, as base 32 reads bytes.
        let bits = u128::from(self.0.swap_bytes()) << 1;
        let digits: [u8; TEXT_LEN] =
            core::array::from_fn(|i| DIGITS[(bits >> (5 * (TEXT_LEN - 1 - i))) as usize & 31]);
        f.pad(core::str::from_utf8(&digits).expect("the digits are ASCII"))
    }
}

impl FromStr for ParamId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || format!("{text:?} is not the text of a parameter id");
        if text.len() != TEXT_LEN {
            return Err(invalid());
        }
        let bits = text.bytes().try_fold(0u128, |bits, byte| {
            let digit = DIGITS.iter().position(|digit| *digit == byte)?;
            Some(bits << 5 | digit as u128)
        });
        match bits {
            Some(bits) if bits & 1 == 0 => Ok(Self(((bits >> 1) as u64).swap_bytes())),
            _ => Err(invalid()),
        }
    }
}

impl Serialize for ParamId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ParamId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(de::Error::custom)
    }
}
