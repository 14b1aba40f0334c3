//! What the fields of a state can be: what `#[derive(RecordState)]` calls. Not for use by hand.

use alloc::string::ToString;
use alloc::vec::Vec;

pub use burn_core::tensor::Device;
use burn_core::tensor::Tensor;
use burn_pack::Scalar;

use crate::state::join;
use crate::{RecordState, StateSink, StateSource};

/// A part of a state that is stored under a name.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be stored in the state of an optimizer",
    label = "neither a float tensor, a number, nor a `RecordState`"
)]
pub trait StateField: Sized {
    /// Writes the part.
    fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink);

    /// Reads the part; `None` if it is missing or of another type.
    fn unflatten(
        prefix: &str,
        name: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<Self>;
}

impl<T: RecordState> StateField for T {
    fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink) {
        self.state_flatten(&join(prefix, name), sink);
    }

    fn unflatten(
        prefix: &str,
        name: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<Self> {
        T::state_unflatten(&join(prefix, name), source, device)
    }
}

impl<const D: usize> StateField for Tensor<D> {
    fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink) {
        sink.push_tensor(prefix, name, self.to_data());
    }

    fn unflatten(
        prefix: &str,
        name: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<Self> {
        let data = source.take_tensor(prefix, name)?;
        let dtype = data.dtype();
        let fits = data.rank() == D && dtype.is_float();
        fits.then(|| Tensor::from_data(data, (device, dtype)))
    }
}

impl<T: StateField> StateField for Option<T> {
    fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink) {
        if let Some(part) = self {
            part.flatten(prefix, name, sink);
        }
    }

    fn unflatten(
        prefix: &str,
        name: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<Self> {
        match source.has(prefix, name) {
            true => T::unflatten(prefix, name, source, device).map(Some),
            false => Some(None),
        }
    }
}

/// The number of elements under `len`, and each under its index.
impl<T: StateField> StateField for Vec<T> {
    fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink) {
        let prefix = join(prefix, name);
        self.len().flatten(&prefix, "len", sink);
        for (index, part) in self.iter().enumerate() {
            part.flatten(&prefix, &index.to_string(), sink);
        }
    }

    fn unflatten(
        prefix: &str,
        name: &str,
        source: &mut StateSource,
        device: &Device,
    ) -> Option<Self> {
        let prefix = join(prefix, name);
        let len = usize::unflatten(&prefix, "len", source, device)?;
        (0..len)
            .map(|index| T::unflatten(&prefix, &index.to_string(), source, device))
            .collect()
    }
}

macro_rules! scalars {
    ($($ty:ty),+) => {
        $(impl StateField for $ty {
            fn flatten(&self, prefix: &str, name: &str, sink: &mut StateSink) {
                sink.push_scalar(prefix, name, Scalar::from(*self));
            }

            fn unflatten(
                prefix: &str,
                name: &str,
                source: &mut StateSource,
                _device: &Device,
            ) -> Option<Self> {
                <$ty>::try_from(source.take_scalar(prefix, name)?).ok()
            }
        })+
    };
}

scalars!(
    bool, f32, f64, i8, i16, i32, i64, isize, u8, u16, u32, u64, usize
);

/// What a state can be moved by, field by field.
pub(crate) trait Move {
    fn moved(self, device: &Device) -> Self;
}

impl<const D: usize> Move for Tensor<D> {
    fn moved(self, device: &Device) -> Self {
        Tensor::to_device(self, device)
    }
}

impl<T: Move> Move for Option<T> {
    fn moved(self, device: &Device) -> Self {
        self.map(|part| part.moved(device))
    }
}

impl<T: Move> Move for Vec<T> {
    fn moved(self, device: &Device) -> Self {
        self.into_iter().map(|part| part.moved(device)).collect()
    }
}

macro_rules! stays {
    ($($ty:ty),+) => {
        $(impl Move for $ty {
            fn moved(self, _device: &Device) -> Self {
                self
            }
        })+
    };
}

stays!(f64, usize);

/// Defines what an optimizer remembers about a parameter: a struct that is stored and moved field by field.
macro_rules! state {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $visibility:vis $field:ident: $ty:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, $crate::RecordState)]
        pub struct $name<const D: usize> {
            $($(#[$field_doc])* $visibility $field: $ty,)+
        }

        impl<const D: usize> $name<D> {
            /// The state on another device.
            pub fn to_device(self, device: &burn_core::tensor::Device) -> Self {
                Self { $($field: $crate::field::Move::moved(self.$field, device),)+ }
            }
        }

        impl<const D: usize> $crate::field::Move for $name<D> {
            fn moved(self, device: &burn_core::tensor::Device) -> Self {
                self.to_device(device)
            }
        }
    };
}

pub(crate) use state;
