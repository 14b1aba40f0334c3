//! Order along a dim. Elements become unsigned keys that are in the same order, which are sorted alone where they can be
//! turned back, and together with their positions where not: so sorting is stable, and there are three types to sort.
//!
//! Short lines are sorted by comparison, long ones by the bytes of their keys (least significant first, Knuth 1998,
//! section 5.2.5), and a small part of a line is selected first.

use super::movement;
use crate::FlexTensor;
use crate::parallel::{NANOSECOND, Shared, split};
use crate::tensor::{Layout, allocate};
use alloc::vec::Vec;
use burn_ir::{MovementOp, SortOp, TensorMeta};
use burn_std::{DType, Shape};
use num_traits::{AsPrimitive, PrimInt};

/// Lines below this length are sorted by comparison: there the counts of 256 buckets cost more.
const SHORT: usize = 1024;

/// The first elements in order along `dim`, as many as the output has, or their positions.
pub(crate) fn run(
    op: SortOp,
    dim: usize,
    descending: bool,
    input: FlexTensor,
    output: &TensorMeta,
) -> FlexTensor {
    let (rank, len) = (output.rank(), output.shape[dim]);
    // Lines one behind the other; the output is a view with the dim where it was.
    let axes = (0..rank).filter(|axis| *axis != dim).chain([dim]);
    let axes: Shape = axes.collect();
    let mut shape: Shape = axes.iter().map(|axis| input.shape()[*axis]).collect();
    let moved = TensorMeta::new(shape.clone(), input.dtype());
    let input = movement::run(MovementOp::Permute { axes: axes.clone() }, input, &moved);
    let input = input.into_contiguous();
    let size = shape[rank - 1];
    shape[rank - 1] = len;
    let lines = Lines {
        op,
        count: shape[..rank - 1].iter().product(),
        size,
        len,
        from: Shared(input.first().cast_mut()),
        width: output.dtype.size(),
    };
    // SAFETY: all lines are written in full.
    let mut storage = unsafe { allocate(lines.count * len * lines.width, output.dtype) };
    let to = Shared(storage.as_mut_ptr());
    by_bits(&lines, input.dtype(), descending, to);
    let sorted = FlexTensor::contiguous(TensorMeta::new(shape, output.dtype), storage);
    let mut strides = sorted.layout().strides.clone();
    for (at, axis) in axes.iter().enumerate() {
        strides[*axis] = sorted.layout().strides[at];
    }
    sorted.view(output.shape.clone(), Layout { strides, offset: 0 })
}

/// Lines one behind the other.
struct Lines {
    op: SortOp,
    count: usize,
    /// Elements of a line.
    size: usize,
    /// Elements of a line to give.
    len: usize,
    from: Shared<u8>,
    /// Bytes of an element of the output.
    width: usize,
}

fn by_bits(lines: &Lines, dtype: DType, descending: bool, to: Shared<u8>) {
    match dtype {
        DType::F64 => sort::<u64, u64, u128>(lines, Form::float(0x7ff << 52, descending), to),
        DType::F32 => sort::<u32, u32, u64>(lines, Form::float(0xff << 23, descending), to),
        DType::F16 => sort::<u16, u32, u64>(lines, Form::float(0x1f << 10, descending), to),
        DType::BF16 => sort::<u16, u32, u64>(lines, Form::float(0xff << 7, descending), to),
        DType::I64 => sort::<u64, u64, u128>(lines, Form::signed(descending), to),
        DType::I32 => sort::<u32, u32, u64>(lines, Form::signed(descending), to),
        DType::I16 => sort::<u16, u32, u64>(lines, Form::signed(descending), to),
        DType::I8 => sort::<u8, u32, u64>(lines, Form::signed(descending), to),
        DType::U64 => sort::<u64, u64, u128>(lines, Form::unsigned(descending), to),
        DType::U32 => sort::<u32, u32, u64>(lines, Form::unsigned(descending), to),
        DType::U16 => sort::<u16, u32, u64>(lines, Form::unsigned(descending), to),
        DType::U8 | DType::Bool(_) => {
            sort::<u8, u32, u64>(lines, Form::unsigned(descending), to);
        }
        DType::Flex32 | DType::QFloat(_) => crate::unsupported(dtype),
    }
}

/// The bits of an element.
trait Bits: PrimInt + AsPrimitive<usize> + Send + Sync + 'static {}
impl<B: PrimInt + AsPrimitive<usize> + Send + Sync + 'static> Bits for B {}

/// How bits become keys.
#[derive(Clone, Copy)]
struct Form<R> {
    /// The bit of the sign, if there is one.
    sign: R,
    /// The bits of infinity, if the elements are floats.
    infinity: Option<R>,
    /// What turns the order around.
    flip: R,
}

impl<R: Bits> Form<R> {
    fn unsigned(descending: bool) -> Self {
        Self {
            sign: R::zero(),
            infinity: None,
            flip: if descending {
                R::max_value()
            } else {
                R::zero()
            },
        }
    }

    fn signed(descending: bool) -> Self {
        Self {
            sign: !(R::max_value() >> 1),
            ..Self::unsigned(descending)
        }
    }

    fn float(infinity: R, descending: bool) -> Self {
        Self {
            infinity: Some(infinity),
            ..Self::signed(descending)
        }
    }

    /// The key: equal for equal elements and for all NaN, which are above everything.
    #[inline(always)]
    fn key(&self, bits: R) -> R {
        let key = match self.infinity {
            None => bits ^ self.sign,
            Some(infinity) => {
                let magnitude = bits & !self.sign;
                let key = match bits == magnitude {
                    true => bits | self.sign,
                    false => !bits,
                };
                let key = if magnitude.is_zero() { self.sign } else { key };
                if magnitude > infinity {
                    R::max_value()
                } else {
                    key
                }
            }
        };
        key ^ self.flip
    }

    /// Whether other bits have the same key.
    #[inline(always)]
    fn is_shared(&self, bits: R) -> bool {
        self.infinity
            .is_some_and(|infinity| bits & !self.sign > infinity || bits == self.sign)
    }

    /// The bits that have a key that is not shared.
    #[inline(always)]
    fn bits(&self, key: R) -> R {
        let key = key ^ self.flip;
        match self.infinity {
            None => key ^ self.sign,
            Some(_) if key & self.sign == R::zero() => !key,
            Some(_) => key ^ self.sign,
        }
    }
}

/// Something to sort: a key, or a key above a position.
trait Item: PrimInt + AsPrimitive<usize> + 'static {}
impl Item for u32 {}
impl Item for u64 {}
impl Item for u128 {}

/// Sorts lines of elements with the bits `R` by keys `K`, or pairs `P` of a key and a position.
fn sort<R, K, P>(lines: &Lines, form: Form<R>, to: Shared<u8>)
where
    R: Bits + AsPrimitive<K> + AsPrimitive<P>,
    K: Item + AsPrimitive<R>,
    P: Item + AsPrimitive<u64>,
    usize: AsPrimitive<P>,
{
    assert!(
        size_of::<P>() == 16 || u32::try_from(lines.size).is_ok(),
        "positions of a line that fits into memory as pairs have 32 bits"
    );
    let cost = lines.size * 8 * NANOSECOND;
    split(lines.count, 1, cost, &|range| {
        let mut keys = (Vec::<K>::new(), Vec::new());
        let mut pairs = (Vec::<P>::new(), Vec::new());
        for line in range {
            let from = lines.from.get().cast::<R>().wrapping_add(line * lines.size);
            // SAFETY: the line is inside the input, whose elements have these bits.
            let elems = unsafe { core::slice::from_raw_parts(from, lines.size) };
            let to = to.get().wrapping_add(line * lines.len * lines.width);
            let values = lines.op == SortOp::Values;
            if values
                && !elems
                    .iter()
                    .fold(false, |any, bits| any | form.is_shared(*bits))
            {
                // SAFETY: the line of the output has `len` elements with these bits.
                unsafe { by_keys(elems, form, lines.len, to.cast::<R>(), &mut keys) };
                continue;
            }
            let above = 4 * size_of::<P>();
            let pair = |(at, bits): (usize, &R)| -> P {
                AsPrimitive::<P>::as_(form.key(*bits)) << above | at.as_()
            };
            pairs.0.clear();
            pairs.0.extend(elems.iter().enumerate().map(pair));
            first(
                &mut pairs.0,
                &mut pairs.1,
                lines.len,
                above,
                8 * size_of::<R>(),
            );
            let places = pairs.0.iter().take(lines.len).map(|pair| {
                let low = *pair & ((P::one() << above) - P::one());
                AsPrimitive::<u64>::as_(low) as usize
            });
            // SAFETY: as above; positions are below the size of the line, and written as wide as the output has them.
            unsafe {
                match values {
                    true => put(places.map(|at| elems[at]), to.cast::<R>()),
                    false => positions(places, lines.width, to),
                }
            }
        }
    });
}

/// Sorts a line of elements that their keys can be turned back into.
///
/// # Safety
/// `to` is writable for `len` elements.
unsafe fn by_keys<R, K>(
    elems: &[R],
    form: Form<R>,
    len: usize,
    to: *mut R,
    (keys, scratch): &mut (Vec<K>, Vec<K>),
) where
    R: Bits + AsPrimitive<K>,
    K: Item + AsPrimitive<R>,
{
    let bits = 8 * size_of::<R>();
    let unsorted = elems
        .iter()
        .map(|bits| AsPrimitive::<K>::as_(form.key(*bits)));
    // Whole lines of elements as wide as their keys are sorted where they go.
    if size_of::<R>() == size_of::<K>() && len == elems.len() {
        let to = to.cast::<K>();
        // SAFETY: the caller's promise, for elements as wide as a key, all of which `put` writes first.
        let line = unsafe {
            put(unsorted, to);
            core::slice::from_raw_parts_mut(to, len)
        };
        first(line, scratch, len, 0, bits);
        for key in line {
            *key = form.bits(key.as_()).as_();
        }
        return;
    }
    keys.clear();
    keys.extend(unsorted);
    first(keys, scratch, len, 0, bits);
    let sorted = keys.iter().take(len);
    // SAFETY: the caller's promise.
    unsafe { put(sorted.map(|key| form.bits(key.as_())), to) };
}

/// # Safety
/// `to` is writable for all elements.
unsafe fn put<R>(elems: impl Iterator<Item = R>, to: *mut R) {
    for (at, elem) in elems.enumerate() {
        // SAFETY: the caller's promise.
        unsafe { to.add(at).write(elem) };
    }
}

/// Writes positions as integers of `width` bytes.
///
/// # Safety
/// `to` is writable for all of them.
unsafe fn positions(places: impl Iterator<Item = usize>, width: usize, to: *mut u8) {
    // SAFETY: the caller's promise.
    unsafe {
        match width {
            1 => put(places.map(|at| at as u8), to),
            2 => put(places.map(|at| at as u16), to.cast()),
            4 => put(places.map(|at| at as u32), to.cast()),
            _ => put(places.map(|at| at as u64), to.cast()),
        }
    }
}

/// Brings the first `len` items into order at the front, by the `bits` bits from `low` on; items that are equal there
/// are in order already.
fn first<I: Item>(items: &mut [I], scratch: &mut Vec<I>, len: usize, low: usize, bits: usize) {
    if len < items.len() / 4 {
        if let Some(last) = len.checked_sub(1) {
            items.select_nth_unstable(last);
            items[..len].sort_unstable();
        }
        return;
    }
    if items.len() < SHORT {
        return items.sort_unstable();
    }
    let mut counts = [[0usize; 256]; 8];
    let digits = bits / 8;
    let digit = |item: I, at: usize| AsPrimitive::<usize>::as_(item >> (low + 8 * at)) & 0xff;
    for item in items.iter() {
        for (at, counts) in counts.iter_mut().enumerate().take(digits) {
            counts[digit(*item, at)] += 1;
        }
    }
    scratch.clear();
    scratch.resize(items.len(), I::zero());
    let (mut from, mut to) = (&mut *items, &mut scratch[..]);
    let mut away = false;
    for (at, counts) in counts.iter_mut().enumerate().take(digits) {
        // A digit that all items share changes nothing.
        if counts[digit(from[0], at)] == from.len() {
            continue;
        }
        let mut start = 0;
        for count in counts.iter_mut() {
            start += core::mem::replace(count, start);
        }
        for item in from.iter() {
            let place = &mut counts[digit(*item, at)];
            to[*place] = *item;
            *place += 1;
        }
        core::mem::swap(&mut from, &mut to);
        away = !away;
    }
    if away {
        to.copy_from_slice(from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::testing::values;
    use burn_ir::{Described, Operation};
    use burn_std::IntDType;

    fn sorted(op: SortOp, descending: bool, len: usize, input: &FlexTensor) -> Vec<f64> {
        let operation = Operation::Sort {
            op,
            dim: 0,
            descending,
            len,
            input: input.meta().clone(),
        };
        let output = operation.infer().expect("it is legal").one();
        values(&run(op, 0, descending, input.clone(), &output))
    }

    /// Compares every way to sort with the sort of the language, for lines below and above [`SHORT`].
    #[track_caller]
    fn check<E: burn_std::Element>(elems: Vec<E>) {
        let dtype = IntDType::I32;
        for size in [100, elems.len()] {
            let input = FlexTensor::from_vec([size], elems[..size].to_vec());
            let numbers = values(&input);
            let above = |x: f64, y: f64| x.partial_cmp(&y).unwrap_or(x.is_nan().cmp(&y.is_nan()));
            for descending in [false, true] {
                let mut order: Vec<usize> = (0..size).collect();
                order.sort_by(|one, other| {
                    let order = above(numbers[*one], numbers[*other]);
                    if descending { order.reverse() } else { order }
                });
                for len in [0, 1, size / 8, size / 2, size] {
                    let found = sorted(SortOp::Indices { dtype }, descending, len, &input);
                    let expected: Vec<f64> = order[..len].iter().map(|at| *at as f64).collect();
                    assert_eq!(found, expected);
                    let found = sorted(SortOp::Values, descending, len, &input);
                    let expected = order[..len].iter().map(|at| numbers[*at]);
                    let bits = |x: f64| if x.is_nan() { 1 } else { x.to_bits() };
                    assert!(found.into_iter().map(bits).eq(expected.map(bits)));
                }
            }
        }
    }

    #[test]
    fn long_lines_of_floats_and_ints_are_in_order() {
        let mixed = |at: u64| at.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let bits = || (0..3000).map(mixed);
        // Any bits are a number: NaN, both zeros, infinities and subnormal ones among them.
        check(bits().map(|bits| f64::from_bits(bits & !0xfff)).collect());
        check(
            bits()
                .map(|bits| (bits >> 40) as f32 - 8e6)
                .collect::<Vec<f32>>(),
        );
        let special = [
            f32::NAN,
            -0.0,
            0.0,
            f32::INFINITY,
            -f32::INFINITY,
            1e-44,
            -f32::NAN,
        ];
        check(
            bits()
                .map(|bits| special[(bits >> 32) as usize % 7])
                .collect(),
        );
        check(
            bits()
                .map(|bits| half::f16::from_bits((bits >> 48) as u16))
                .collect(),
        );
        check(
            bits()
                .map(|bits| half::bf16::from_bits((bits >> 48) as u16))
                .collect(),
        );
        check(bits().map(|bits| (bits >> 12) as i64 - (1 << 51)).collect());
        check(bits().map(|bits| (bits >> 56) as i8).collect());
        check(bits().map(|bits| (bits >> 32) as u32).collect());
    }
}
