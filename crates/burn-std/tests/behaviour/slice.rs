//! Slices against a naive model, and their text form.

use burn_std::{Shape, Slice, SliceArg, s, shape};
use proptest::prelude::*;

/// What a slice selects, by testing every position of the dimension.
fn model(slice: Slice, size: usize) -> Vec<isize> {
    let size = size as isize;
    let from_start = |position: isize| {
        if position < 0 {
            position + size
        } else {
            position
        }
    };
    let end = slice.end.map_or(size, from_start);
    let mut inside: Vec<_> = (0..size)
        .filter(|i| *i >= from_start(slice.start) && *i < end)
        .collect();
    if slice.step < 0 {
        inside.reverse();
    }
    inside
        .into_iter()
        .step_by(slice.step.unsigned_abs())
        .collect()
}

fn slices() -> impl Strategy<Value = Slice> {
    let step = prop_oneof![-4isize..0, 1isize..4];
    (-12isize..12, proptest::option::of(-12isize..12), step)
        .prop_map(|(start, end, step)| Slice::new(start, end, step))
}

proptest! {
    #[test]
    fn a_slice_selects_what_the_model_selects(slice in slices(), size in 0usize..9) {
        let expected = model(slice, size);
        prop_assert_eq!(slice.output_size(size), expected.len());
        let bound = slice.into_slices(&Shape::new([size]));
        prop_assert_eq!(bound.len(), 1);
        prop_assert_eq!(bound[0].into_vec(), expected);
        prop_assert!(slice.range(size).end <= size);
    }

    #[test]
    fn the_text_of_a_slice_reads_back(slice in slices()) {
        prop_assert_eq!(slice.to_string().parse::<Slice>().unwrap(), slice);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "[-0-9.;= a]{0,9}") {
        if let Ok(slice) = text.parse::<Slice>() {
            prop_assert!(slice.step != 0);
        }
    }

    #[test]
    fn extreme_positions_stay_inside(start: isize, end: isize, size in 0usize..9) {
        let range = Slice::new(start, Some(end), 1).range(size);
        prop_assert!(range.start <= range.end && range.end <= size);
        prop_assert!(Slice::new(start, Some(end), isize::MIN).output_size(size) <= 1);
    }
}

#[test]
fn a_negative_step_walks_the_range_backwards() {
    assert_eq!(s![0..5;-2].into_vec(), [4, 2, 0]);
    assert_eq!(s![..;-1].into_slices(&shape![3])[0].into_vec(), [2, 1, 0]);
    assert!(s![0..0;-1].into_vec().is_empty());
}

#[test]
fn every_range_makes_a_slice() {
    let expected = [
        (0, None),
        (1, Some(3)),
        (1, Some(4)),
        (1, None),
        (0, Some(3)),
        (0, Some(-1)),
    ];
    let slices = s![.., 1..3, 1..=3, 1.., ..3u8, ..=-2];
    assert_eq!(slices.map(|slice| (slice.start, slice.end)), expected);
    assert_eq!(s![..=-1], Slice::full());
    assert_eq!(s![-1], Slice::new(-1, None, 1));
    assert_eq!(s![2usize], Slice::new(2, Some(3), 1));
}

#[test]
fn steps_and_plain_ranges_mix() {
    let slices = s![1, .., 0..8;-2,];
    assert_eq!(
        slices,
        [Slice::index(1), Slice::full(), Slice::new(0, Some(8), -2)]
    );
}

#[test]
fn dimensions_not_named_are_full() {
    assert_eq!(
        [0..1, -2..-1].into_slices(&shape![2, 3, 4]),
        s![0..1, 1..2, 0..4]
    );
    assert_eq!((..9).into_slices(&shape![2, 3]), s![0..2, 0..3]);
    let list = vec![Slice::index(-1)];
    assert_eq!((&list).into_slices(&shape![2]), [s![1..2]]);
}

#[test]
#[should_panic(expected = "2 slices are too many for shape [2]")]
fn more_slices_than_dimensions_panic() {
    let _ = [0..1, 0..1].into_slices(&shape![2]);
}

#[test]
#[should_panic(expected = "the step of a slice cannot be zero")]
fn a_step_of_zero_panics() {
    let _ = s![0..1;0];
}

#[test]
fn a_step_of_zero_is_no_slice_in_text_or_serialized() {
    assert_eq!(
        "..;0".parse::<Slice>().unwrap_err().to_string(),
        "invalid expression \"..;0\": the step of a slice cannot be zero"
    );
    let error = serde_json::from_str::<Slice>(r#"{"start":0,"end":null,"step":0}"#).unwrap_err();
    assert!(error.to_string().contains("nonzero"), "{error}");
}

#[test]
fn a_parse_error_names_the_part_that_is_no_integer() {
    let error = "1..x".parse::<Slice>().unwrap_err().to_string();
    assert!(
        error.starts_with("cannot parse \"1..x\": \"x\" is not an integer"),
        "{error}"
    );
    assert!("".parse::<Slice>().is_err());
}

#[test]
fn an_open_slice_counts_on_and_binds_to_a_size() {
    assert_eq!(s![3..;2].into_iter().take(3).collect::<Vec<_>>(), [3, 5, 7]);
    assert_eq!(s![1..].bound_to(3).into_vec(), [1, 2]);
    assert_eq!(s![1..9].bound_to(3), s![1..3]);
}
