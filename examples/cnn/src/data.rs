//! Images of shapes, drawn at random: where, how large, and under how much noise.

use burn::data::dataloader::batcher::Batcher;
use burn::data::dataset::InMemDataset;
use burn::prelude::*;

/// The width and the height of an image, in pixels.
pub const SIDE: usize = 16;
/// What an image may show, by its label.
pub const SHAPES: [&str; 4] = ["disc", "ring", "square", "cross"];

/// An image and what it shows.
#[derive(Clone, Debug)]
pub struct Drawing {
    /// Ink, row by row: 0 to 1 before the noise.
    pub pixels: Vec<f32>,
    /// The position in [`SHAPES`].
    pub label: i32,
}

/// `count` drawings, the same for the same seed.
pub fn drawings(count: usize, seed: u64) -> InMemDataset<Drawing> {
    let mut random = Random(seed);
    let drawings = (0..count).map(|at| draw(at % SHAPES.len(), &mut random));
    InMemDataset::new(drawings.collect())
}

fn draw(shape: usize, random: &mut Random) -> Drawing {
    let radius = random.between(3.0, 5.0);
    let place = |random: &mut Random| random.between(radius, SIDE as f32 - 1.0 - radius);
    let (x, y) = (place(random), place(random));
    let mut pixels = Vec::with_capacity(SIDE * SIDE);
    for at in 0..SIDE * SIDE {
        let (dx, dy) = ((at % SIDE) as f32 - x, (at / SIDE) as f32 - y);
        let ink = match SHAPES[shape] {
            "disc" => dx.hypot(dy) <= radius,
            "ring" => (dx.hypot(dy) - radius).abs() < 0.8,
            "square" => (dx.abs().max(dy.abs()) - radius).abs() < 0.8,
            _ => dx.abs().min(dy.abs()) < 0.8 && dx.abs().max(dy.abs()) <= radius,
        };
        pixels.push(f32::from(ink) + random.between(-0.5, 0.5));
    }
    Drawing {
        pixels,
        label: shape as i32,
    }
}

/// Knuth's linear congruential generator for MMIX: drawings do not change when a library changes its generator.
struct Random(u64);

impl Random {
    fn between(&mut self, low: f32, high: f32) -> f32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        low + (high - low) * (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}

/// Puts drawings into tensors.
#[derive(Clone, Debug)]
pub struct DrawingBatcher;

/// Some drawings as tensors.
#[derive(Clone, Debug)]
pub struct DrawingBatch {
    /// `[batch, 1, SIDE, SIDE]`
    pub images: Tensor<4>,
    /// `[batch]`
    pub labels: Tensor<1, Int>,
}

impl Batcher<Drawing, DrawingBatch> for DrawingBatcher {
    fn batch(&self, drawings: Vec<Drawing>, device: &Device) -> DrawingBatch {
        let count = drawings.len();
        let labels: Vec<i32> = drawings.iter().map(|drawing| drawing.label).collect();
        let pixels: Vec<f32> = drawings.into_iter().flat_map(|it| it.pixels).collect();
        let pixels = TensorData::new(pixels, [count, 1, SIDE, SIDE]);
        DrawingBatch {
            images: Tensor::from_data(pixels, device),
            labels: Tensor::from_data(labels.as_slice(), device),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use burn::data::dataset::Dataset;

    #[test]
    fn a_seed_decides_the_drawings() {
        let pixels = |seed: u64| drawings(8, seed).get(7).unwrap().pixels;
        assert_eq!(pixels(1), pixels(1));
        assert_ne!(pixels(1), pixels(2));
    }
}
