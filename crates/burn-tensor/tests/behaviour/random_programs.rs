//! 10,000 random slices, broadcasts and reductions against a model in f64 that knows one thing: how to walk an index.

use super::dev;
use burn_tensor::{Shape, Slice, Tensor, TensorData};

/// A small generator of its own, so that a failing case is found again by its number (Steele, Lea and Flood 2014).
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % below as u64) as usize
    }

    fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.roll((high - low + 1) as usize) as i64
    }
}

/// An array of rank 3 as the model sees it.
#[derive(Clone, Debug)]
struct Model {
    dims: [usize; 3],
    values: Vec<f64>,
}

impl Model {
    fn new(dims: [usize; 3], mut at: impl FnMut([usize; 3]) -> f64) -> Self {
        let mut values = Vec::new();
        for i in 0..dims[0] {
            for j in 0..dims[1] {
                for k in 0..dims[2] {
                    values.push(at([i, j, k]));
                }
            }
        }
        Self { dims, values }
    }

    fn at(&self, [i, j, k]: [usize; 3]) -> f64 {
        self.values[(i * self.dims[1] + j) * self.dims[2] + k]
    }

    /// The values of each group along a dim.
    fn groups(&self, dim: usize, value: impl Fn(&[f64]) -> f64) -> Self {
        let mut dims = self.dims;
        dims[dim] = 1;
        Self::new(dims, |mut index| {
            let group: Vec<f64> = (0..self.dims[dim])
                .map(|at| {
                    index[dim] = at;
                    self.at(index)
                })
                .collect();
            value(&group)
        })
    }
}

/// A tensor and its model: small whole numbers, so that no order of addition rounds.
fn random(dice: &mut Dice) -> (Tensor<3>, Model) {
    // Sizes around those at which kernels change their way; 0 is one of them.
    const SIZES: [usize; 9] = [0, 1, 1, 2, 3, 4, 5, 9, 17];
    let dims = core::array::from_fn(|_| SIZES[dice.roll(SIZES.len())]);
    let model = Model::new(dims, |_| dice.between(-8, 8) as f64);
    let data = TensorData::new(model.values.clone(), Shape::new(dims));
    (Tensor::from_data(data, &dev()), model)
}

/// The same values behind another arrangement of memory, or as they are.
fn rearranged(dice: &mut Dice, tensor: Tensor<3>, model: Model) -> (Tensor<3>, Model) {
    match dice.roll(4) {
        0 => {
            let (one, other) = (dice.roll(3), dice.roll(3));
            let mut dims = model.dims;
            dims.swap(one, other);
            let swapped = Model::new(dims, |mut index| {
                index.swap(one, other);
                model.at(index)
            });
            (tensor.swap_dims(one, other), swapped)
        }
        1 => {
            let dim = dice.roll(3);
            let flipped = Model::new(model.dims, |mut index| {
                index[dim] = model.dims[dim] - 1 - index[dim];
                model.at(index)
            });
            (tensor.flip([dim]), flipped)
        }
        _ => (tensor, model),
    }
}

/// The positions that a slice of Python with these bounds selects; a negative step walks the range backwards.
fn selected(start: i64, end: Option<i64>, step: i64, size: usize) -> Vec<usize> {
    let size = size as i64;
    let wrap = |at: i64| (if at < 0 { at + size } else { at }).clamp(0, size);
    let (start, end) = (wrap(start), wrap(end.unwrap_or(size)));
    let mut range: Vec<usize> = (start..end).map(|at| at as usize).collect();
    if step < 0 {
        range.reverse();
    }
    range
        .into_iter()
        .step_by(step.unsigned_abs() as usize)
        .collect()
}

fn slice(dice: &mut Dice, tensor: Tensor<3>, model: &Model) -> (Tensor<3>, Model) {
    let mut slices = Vec::new();
    let mut chosen: Vec<Vec<usize>> = Vec::new();
    for size in model.dims {
        let bound = size as i64 + 2;
        let (start, end) = (dice.between(-bound, bound), dice.between(-bound, bound));
        let end = (dice.roll(4) > 0).then_some(end);
        let step = [1, 1, 2, 3, -1, -2][dice.roll(6)];
        slices.push(Slice::new(
            start as isize,
            end.map(|end| end as isize),
            step as isize,
        ));
        chosen.push(selected(start, end, step, size));
    }
    let dims = [chosen[0].len(), chosen[1].len(), chosen[2].len()];
    let result = Model::new(dims, |[i, j, k]| {
        model.at([chosen[0][i], chosen[1][j], chosen[2][k]])
    });
    (tensor.slice(slices.as_slice()), result)
}

fn broadcast(dice: &mut Dice, tensor: Tensor<3>, model: &Model) -> (Tensor<3>, Model) {
    // The other side has size 1 in some dims, and so has this side in others.
    let dims = model
        .dims
        .map(|size| if dice.roll(2) == 0 { 1 } else { size });
    let grown = dims.map(|size| if size == 1 { dice.roll(4) } else { size });
    let other_dims: [usize; 3] = core::array::from_fn(|dim| match model.dims[dim] {
        1 => grown[dim],
        _ => dims[dim],
    });
    let other = Model::new(other_dims, |_| dice.between(-8, 8) as f64);
    let data = TensorData::new(other.values.clone(), Shape::new(other_dims));
    let right = Tensor::<3>::from_data(data, &dev());
    let (right, other) = match dice.roll(2) {
        0 => (right, other),
        // The same values, stored in another order.
        _ => (right.swap_dims(0, 2).add_scalar(0).swap_dims(0, 2), other),
    };
    let size = |one: usize, other: usize| if one == 1 { other } else { one };
    let result_dims = core::array::from_fn(|dim| size(model.dims[dim], other_dims[dim]));
    let inside = |index: [usize; 3], dims: [usize; 3]| -> [usize; 3] {
        core::array::from_fn(|dim| if dims[dim] == 1 { 0 } else { index[dim] })
    };
    let pair = |index| {
        (
            model.at(inside(index, model.dims)),
            other.at(inside(index, other.dims)),
        )
    };
    match dice.roll(4) {
        0 => (
            tensor + right,
            Model::new(result_dims, |at| pair(at).0 + pair(at).1),
        ),
        1 => (
            tensor - right,
            Model::new(result_dims, |at| pair(at).0 - pair(at).1),
        ),
        2 => (
            tensor * right,
            Model::new(result_dims, |at| pair(at).0 * pair(at).1),
        ),
        _ => (
            tensor.max_pair(right),
            Model::new(result_dims, |at| pair(at).0.max(pair(at).1)),
        ),
    }
}

fn reduce(dice: &mut Dice, tensor: Tensor<3>, model: &Model) -> (Tensor<3>, Model) {
    let dim = dice.roll(3);
    let first = |group: &[f64], better: fn(&f64, &f64) -> bool| {
        let best = (1..group.len()).fold(0, |best, at| {
            if better(&group[at], &group[best]) {
                at
            } else {
                best
            }
        });
        best as f64
    };
    // Nothing can be chosen of nothing: that is an error, tested elsewhere.
    match (dice.roll(5), model.dims[dim]) {
        (0, 1..) => (
            tensor.max_dim(dim),
            model.groups(dim, |group| group.iter().copied().fold(f64::MIN, f64::max)),
        ),
        (1, 1..) => (
            tensor.min_dim(dim),
            model.groups(dim, |group| group.iter().copied().fold(f64::MAX, f64::min)),
        ),
        (2, 1..) => (
            tensor.argmax(dim).float(),
            model.groups(dim, |group| first(group, |one, best| one > best)),
        ),
        (3, 1..) => (
            tensor.argmin(dim).float(),
            model.groups(dim, |group| first(group, |one, best| one < best)),
        ),
        _ => (
            tensor.sum_dim(dim),
            model.groups(dim, |group| group.iter().sum()),
        ),
    }
}

#[test]
fn random_slices_broadcasts_and_reductions_agree_with_a_model() {
    for case in 0..10_000u64 {
        let mut dice = Dice(case << 32);
        let (tensor, model) = random(&mut dice);
        let (tensor, model) = rearranged(&mut dice, tensor, model);
        let what = dice.roll(3);
        let (found, expected) = match what {
            0 => slice(&mut dice, tensor, &model),
            1 => broadcast(&mut dice, tensor, &model),
            _ => reduce(&mut dice, tensor, &model),
        };
        assert_eq!(found.dims(), expected.dims, "case {case}, kind {what}");
        let values: Vec<f64> = found.into_data().iter().collect();
        assert_eq!(values, expected.values, "case {case}, kind {what}");
    }
}
