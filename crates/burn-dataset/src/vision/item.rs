//! An image with what is known of it.

use serde::{Deserialize, Serialize};

/// One value of an image, in the depth of its file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PixelDepth {
    /// 8 bits, 0 to 255.
    U8(u8),
    /// 16 bits, 0 to 65535.
    U16(u16),
    /// A float, mostly 0 to 1.
    F32(f32),
}

/// The values of an image, row by row, the channels of a pixel side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum PixelData {
    /// 8 bits each.
    U8(Vec<u8>),
    /// 16 bits each.
    U16(Vec<u16>),
    /// Floats.
    F32(Vec<f32>),
}

impl PixelData {
    /// The number of values: height times width times channels.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(values) => values.len(),
            Self::U16(values) => values.len(),
            Self::F32(values) => values.len(),
        }
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The values, one by one.
    pub fn iter(&self) -> Box<dyn Iterator<Item = PixelDepth> + '_> {
        match self {
            Self::U8(values) => Box::new(values.iter().copied().map(PixelDepth::U8)),
            Self::U16(values) => Box::new(values.iter().copied().map(PixelDepth::U16)),
            Self::F32(values) => Box::new(values.iter().copied().map(PixelDepth::F32)),
        }
    }
}

/// Conversions between values of a depth and those of any depth; the wrong depth is an error that says which it is.
macro_rules! depth {
    ($($variant:ident: $type:ty),*) => {$(
        impl From<Vec<$type>> for PixelData {
            fn from(values: Vec<$type>) -> Self {
                Self::$variant(values)
            }
        }

        impl TryFrom<PixelData> for Vec<$type> {
            type Error = &'static str;

            fn try_from(data: PixelData) -> Result<Self, Self::Error> {
                match data {
                    PixelData::$variant(values) => Ok(values),
                    _ => Err(concat!("the image does not hold values of type ", stringify!($type))),
                }
            }
        }

        impl TryFrom<PixelDepth> for $type {
            type Error = &'static str;

            fn try_from(value: PixelDepth) -> Result<Self, Self::Error> {
                match value {
                    PixelDepth::$variant(value) => Ok(value),
                    _ => Err(concat!("the value is not of type ", stringify!($type))),
                }
            }
        }
    )*};
}

depth!(U8: u8, U16: u16, F32: f32);

/// What is known of an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Annotation {
    /// Its class.
    Label(usize),
    /// Its classes.
    MultiLabel(Vec<usize>),
    /// Where in it there are objects.
    BoundingBoxes(Vec<BoundingBox>),
    /// The class of each pixel.
    SegmentationMask(SegmentationMask),
}

/// An object in an image.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundingBox {
    /// Left, top, width and height in pixels.
    pub coords: [f32; 4],
    /// The class of the object.
    pub label: usize,
}

/// The class of each pixel of an image.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SegmentationMask {
    /// Row by row.
    pub mask: Vec<usize>,
}

/// An image with what is known of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImageDatasetItem {
    /// The values of the image.
    pub image: PixelData,
    /// Its width in pixels.
    pub image_width: usize,
    /// Its height in pixels.
    pub image_height: usize,
    /// What is known of it.
    pub annotation: Annotation,
    /// The path of its file.
    pub image_path: String,
}
