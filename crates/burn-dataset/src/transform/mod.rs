//! Datasets made from other datasets: fewer items, more items, other items, another order.

mod composed;
mod mapper;
mod options;
mod partial;
mod sampler;
mod selection;
mod shuffle;
mod window;

pub use composed::ComposedDataset;
pub use mapper::{Mapper, MapperDataset};
pub use options::{RngSource, SizeConfig};
pub use partial::PartialDataset;
pub use sampler::{SamplerDataset, SamplerDatasetOptions};
pub use selection::SelectionDataset;
pub use shuffle::ShuffledDataset;
pub use window::{Window, Windows, WindowsDataset, WindowsIterator};

/// Cuts `0..len` into `num` ranges of equal length; the last takes the rest.
#[track_caller]
fn equal_ranges(len: usize, num: usize) -> impl Iterator<Item = core::ops::Range<usize>> {
    assert!(num > 0, "a dataset cannot be split into 0 parts");
    let size = len / num;
    (0..num).map(move |part| {
        part * size..if part + 1 == num {
            len
        } else {
            (part + 1) * size
        }
    })
}
