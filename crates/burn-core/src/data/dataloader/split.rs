//! One loader for each of several devices.

use alloc::vec::Vec;
use std::sync::Arc;

use burn_tensor::Device;

use super::DataLoader;

/// Splits the items of `dataloader` between `devices`; the last device also takes what is left
/// over. Without devices the loader stays whole.
pub fn split_dataloader<O>(
    dataloader: Arc<dyn DataLoader<O>>,
    devices: &[Device],
) -> Vec<Arc<dyn DataLoader<O>>> {
    if devices.is_empty() {
        return alloc::vec![dataloader];
    }
    let total = dataloader.num_items();
    let share = total / devices.len();
    let last = devices.len() - 1;
    let part = |(index, device): (usize, &Device)| {
        let end = if index == last {
            total
        } else {
            (index + 1) * share
        };
        dataloader.slice(index * share, end).to_device(device)
    };
    devices.iter().enumerate().map(part).collect()
}
