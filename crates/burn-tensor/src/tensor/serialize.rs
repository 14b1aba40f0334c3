//! Tensors in files: their data. The device is not written; reading puts the tensor on the default device.

use super::Tensor;
use crate::kind::{Basic, Kind};
use crate::{Device, TensorCreationOptions};
use burn_std::TensorData;
use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Reads the tensor.
impl<const D: usize, K> Serialize for Tensor<D, K>
where
    K: Basic,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let data = self.try_to_data().map_err(S::Error::custom)?;
        data.serialize(serializer)
    }
}

impl<'de, const D: usize, K> Deserialize<'de> for Tensor<D, K>
where
    K: Basic,
{
    fn deserialize<De: Deserializer<'de>>(deserializer: De) -> Result<Self, De::Error> {
        let data = TensorData::deserialize(deserializer)?;
        if data.rank() != D || Kind::from(data.dtype()) != K::KIND {
            return Err(De::Error::custom(alloc::format!(
                "a tensor of rank {D} and kind {} was expected, and the data has rank {} and elements of type {}",
                K::name(),
                data.rank(),
                data.dtype().name()
            )));
        }
        let device = Device::default();
        let dtype = data.dtype();
        let options = match device.supports_dtype(dtype) {
            true => TensorCreationOptions::from((&device, dtype)),
            false => TensorCreationOptions::from(&device),
        };
        Ok(Self::from_data(data, options))
    }
}
