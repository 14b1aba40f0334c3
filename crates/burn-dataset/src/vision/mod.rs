//! Images: folders of them, and well-known collections.

#[cfg(feature = "builtin-sources")]
mod cifar;
mod coco;
mod folder;
mod item;
mod mnist;

#[cfg(feature = "builtin-sources")]
pub use cifar::{Cifar10Dataset, Cifar100Dataset, CifarItem};
pub use folder::{ImageFolderDataset, ImageLoaderError};
pub use item::{
    Annotation, BoundingBox, ImageDatasetItem, PixelData, PixelDepth, SegmentationMask,
};
pub use mnist::{MnistDataset, MnistItem};
