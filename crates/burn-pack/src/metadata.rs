//! What a file says about its tensors: encoding, decoding, and every check on it.

use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Range;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{
    DType, Error, MAX_CBOR_RECURSION_DEPTH, MAX_FILE_SIZE, MAX_METADATA_SIZE, MAX_TENSOR_COUNT,
    MAX_TENSOR_SIZE, Scalar,
};

/// The metadata of a file. Field names are those in the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Metadata {
    #[serde(deserialize_with = "unique")]
    pub tensors: BTreeMap<String, Descriptor>,
    #[serde(
        default,
        deserialize_with = "unique",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub metadata: BTreeMap<String, String>,
    #[serde(
        default,
        deserialize_with = "unique",
        skip_serializing_if = "BTreeMap::is_empty"
    )]
    pub scalars: BTreeMap<String, Scalar>,
}

/// One tensor, as the metadata describes it. Field names are those in the file.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Descriptor {
    pub dtype: DType,
    // A `Vec`, because decoding a `Shape` would reserve whatever length the file claims.
    pub shape: Vec<usize>,
    /// Start and end in bytes from the start of the data.
    pub data_offsets: (u64, u64),
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub param_id: Option<u64>,
}

impl Metadata {
    pub fn encode(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        ciborium::into_writer(self, &mut bytes)
            .map_err(|error| Error::MetadataSerializationError(error.to_string()))?;
        if bytes.len() > MAX_METADATA_SIZE as usize {
            return Err(Error::MetadataSerializationError(format!(
                "{} bytes exceed the limit of {MAX_METADATA_SIZE}",
                bytes.len()
            )));
        }
        Ok(bytes)
    }

    /// Decodes metadata and checks it against the `data_len` bytes of data in the file.
    pub fn decode(mut bytes: &[u8], data_len: u64) -> Result<Self, Error> {
        let metadata: Self =
            ciborium::de::from_reader_with_recursion_limit(&mut bytes, MAX_CBOR_RECURSION_DEPTH)
                .map_err(|error| Error::MetadataDeserializationError(error.to_string()))?;
        if !bytes.is_empty() {
            return Err(Error::MetadataDeserializationError(format!(
                "{} bytes are left behind the metadata",
                bytes.len()
            )));
        }
        metadata.check(data_len)?;
        Ok(metadata)
    }

    fn check(&self, data_len: u64) -> Result<(), Error> {
        check_count(self.tensors.len())?;
        let mut used = Vec::with_capacity(self.tensors.len());
        for (name, tensor) in &self.tensors {
            let (start, end) = tensor.data_offsets;
            if start > end || end > data_len {
                return Err(Error::ValidationError(format!(
                    "tensor '{name}' is at bytes {start}..{end} of the data, which has {data_len}"
                )));
            }
            check_size(name, tensor.dtype, &tensor.shape, end - start)?;
            if start < end {
                used.push((start, end, name));
            }
        }
        used.sort_unstable();
        match used.windows(2).find(|pair| pair[0].1 > pair[1].0) {
            Some(pair) => Err(Error::ValidationError(format!(
                "tensors '{}' and '{}' overlap",
                pair[0].2, pair[1].2
            ))),
            None => Ok(()),
        }
    }
}

impl Descriptor {
    /// Where the elements are, in bytes from the start of the data.
    pub fn range(&self) -> Range<u64> {
        self.data_offsets.0..self.data_offsets.1
    }
}

/// Refuses more tensors than a file may have.
pub(crate) fn check_count(count: usize) -> Result<(), Error> {
    if count > MAX_TENSOR_COUNT {
        return Err(Error::ValidationError(format!(
            "{count} tensors exceed the limit of {MAX_TENSOR_COUNT}"
        )));
    }
    Ok(())
}

/// Refuses a file that is larger than files may be.
pub(crate) fn check_file_size(size: u64) -> Result<(), Error> {
    if size > MAX_FILE_SIZE {
        return Err(Error::ValidationError(format!(
            "a file of {size} bytes exceeds the limit of {MAX_FILE_SIZE}"
        )));
    }
    Ok(())
}

/// Refuses a tensor of `len` bytes that is too large, or not of the size that its shape and dtype give.
pub(crate) fn check_size(name: &str, dtype: DType, shape: &[usize], len: u64) -> Result<(), Error> {
    // Sizes of 0 count as 1 here, so that strides of an empty tensor do not overflow either.
    let product = shape
        .iter()
        .try_fold(8usize, |len, &dim| len.checked_mul(dim.max(1)));
    let expected = product.and_then(|_| dtype.size_of(shape));
    let Some(expected) = expected else {
        return Err(Error::ValidationError(format!(
            "the shape {shape:?} of tensor '{name}' overflows"
        )));
    };
    if expected as u64 != len {
        return Err(Error::ValidationError(format!(
            "tensor '{name}' has {len} bytes but its shape {shape:?} and dtype {} need {expected}",
            dtype.name()
        )));
    }
    if expected > MAX_TENSOR_SIZE {
        return Err(Error::ValidationError(format!(
            "the {len} bytes of tensor '{name}' exceed the limit of {MAX_TENSOR_SIZE}"
        )));
    }
    Ok(())
}

/// Decodes a map and refuses a name that comes twice, of which a plain map would keep the last.
fn unique<'de, D, V>(deserializer: D) -> Result<BTreeMap<String, V>, D::Error>
where
    D: Deserializer<'de>,
    V: Deserialize<'de>,
{
    struct Unique<V>(PhantomData<V>);

    impl<'de, V: Deserialize<'de>> Visitor<'de> for Unique<V> {
        type Value = BTreeMap<String, V>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a map by name")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Self::Value, A::Error> {
            let mut map = BTreeMap::new();
            while let Some(name) = access.next_key::<String>()? {
                match map.entry(name) {
                    Entry::Vacant(entry) => entry.insert(access.next_value()?),
                    Entry::Occupied(entry) => {
                        return Err(A::Error::custom(format!(
                            "the name '{}' comes twice",
                            entry.key()
                        )));
                    }
                };
            }
            Ok(map)
        }
    }

    deserializer.deserialize_map(Unique(PhantomData))
}
