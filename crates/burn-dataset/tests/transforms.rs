//! What the transforms promise: which items, how many, in which order.

use burn_dataset::transform::*;
use burn_dataset::{Dataset, DatasetError, InMemDataset};
use proptest::prelude::*;

type Numbers = InMemDataset<usize>;
type Selection = SelectionDataset<Numbers, usize>;

fn numbers(len: usize) -> Numbers {
    InMemDataset::new((0..len).collect())
}

fn items<I>(dataset: &impl Dataset<I>) -> Vec<I> {
    dataset.iter().map(Result::unwrap).collect()
}

fn sorted(mut items: Vec<usize>) -> Vec<usize> {
    items.sort_unstable();
    items
}

fn counts(items: &[usize], len: usize) -> Vec<usize> {
    let mut counts = vec![0; len];
    items.iter().for_each(|&item| counts[item] += 1);
    counts
}

/// A source whose every item fails.
struct Broken;

impl Dataset<usize> for Broken {
    fn get(&self, index: usize) -> Result<usize, DatasetError> {
        Err(DatasetError::new(std::io::Error::other(format!(
            "no item {index}"
        ))))
    }

    fn len(&self) -> usize {
        3
    }
}

struct Double;

impl Mapper<usize, usize> for Double {
    fn map(&self, item: &usize) -> usize {
        item * 2
    }
}

#[test]
fn get_many_keeps_the_order_asked_for() {
    assert_eq!(numbers(4).get_many(vec![2, 0, 2]).unwrap(), [2, 0, 2]);
}

#[test]
fn the_iterator_knows_its_length() {
    let dataset = numbers(3);
    let mut iter = dataset.iter();
    assert_eq!(iter.size_hint(), (3, Some(3)));
    iter.next();
    assert_eq!(iter.size_hint(), (2, Some(2)));
}

#[test]
fn a_dataset_can_be_read_through_a_trait_object() {
    let boxed: Box<dyn Dataset<usize>> = Box::new(numbers(2));
    assert_eq!(items(&boxed), [0, 1]);
    assert_eq!(items(&MapperDataset::new(boxed, Double)), [0, 2]);
}

#[test]
#[should_panic(expected = "InMemDataset: index 3 is out of range, the dataset has 3 items")]
fn an_index_out_of_range_panics() {
    let _ = numbers(3).get(3);
}

#[test]
fn an_error_of_the_source_passes_through_transforms() {
    let mapped = MapperDataset::new(PartialDataset::<_, usize>::new(Broken, 1, 3), Double);
    let error = mapped.get(1).unwrap_err();
    assert_eq!(error.to_string(), "no item 2");
}

#[test]
fn a_partial_dataset_stays_within_its_range() {
    let partial = PartialDataset::new(numbers(6), 2, 5);
    assert_eq!(items(&partial), [2, 3, 4]);
    assert_eq!(partial.get_many(vec![2, 0]).unwrap(), [4, 2]);
}

#[test]
fn a_partial_dataset_ends_with_its_source() {
    assert_eq!(items(&PartialDataset::new(numbers(4), 2, 9)), [2, 3]);
    assert!(PartialDataset::new(numbers(4), 7, 9).is_empty());
}

#[test]
#[should_panic(expected = "PartialDataset: index 2 is out of range, the dataset has 2 items")]
fn a_partial_dataset_does_not_read_behind_its_end() {
    let _ = PartialDataset::new(numbers(6), 1, 3).get(2);
}

#[test]
#[should_panic(expected = "range 3..2 ends before it starts")]
fn a_reversed_range_panics() {
    PartialDataset::<_, usize>::new(numbers(6), 3, 2);
}

#[test]
fn split_chunks_cuts_at_batches() {
    let parts = |len, num, batch| -> Vec<usize> {
        PartialDataset::split_chunks(numbers(len), num, batch)
            .iter()
            .map(Dataset::len)
            .collect()
    };
    assert_eq!(parts(11, 3, 2), [4, 4, 3]);
    assert_eq!(parts(20, 3, 4), [8, 8, 4]);
    assert_eq!(parts(5, 4, 2), [2, 2, 1]);
    assert_eq!(parts(18, 4, 2), [6, 4, 4, 4]);
    assert!(parts(0, 4, 2).is_empty());
}

#[test]
#[should_panic(expected = "SelectionDataset: index 9 is out of range, the dataset has 4 items")]
fn a_checked_selection_rejects_an_index_out_of_range() {
    Selection::from_indices_checked(numbers(4), vec![0, 9]);
}

#[test]
fn a_selection_can_be_sliced_and_split() {
    let selection = Selection::from_indices_checked(numbers(4), vec![3, 2, 1, 1, 0]);
    assert_eq!(items(&selection.slice(1, 3)), [2, 1]);
    let parts: Vec<_> = selection.split(2).iter().map(items).collect();
    assert_eq!(parts, [vec![3, 2], vec![1, 1, 0]]);
}

#[test]
#[should_panic(expected = "range 1..9 is not within its 2 items")]
fn a_slice_beyond_a_selection_panics() {
    Selection::from_indices_checked(numbers(4), vec![3, 2]).slice(1, 9);
}

#[test]
fn one_generator_gives_different_orders_one_after_the_other() {
    use rand::SeedableRng;
    let mut rng = rand::rngs::StdRng::seed_from_u64(3);
    let first = Selection::new_shuffled(numbers(50), &mut rng);
    let second = Selection::new_shuffled(numbers(50), &mut rng);
    assert_ne!(first.indices, second.indices);
}

#[test]
fn without_a_seed_two_shuffles_differ() {
    let shuffle = || items(&ShuffledDataset::new(numbers(50), RngSource::Default));
    // They agree once in 50! runs.
    assert_ne!(shuffle(), shuffle());
}

#[test]
fn composed_datasets_follow_each_other() {
    let composed = ComposedDataset::new(vec![numbers(2), numbers(0), numbers(3)]);
    assert_eq!(items(&composed), [0, 1, 0, 1, 2]);
    let many = composed.get_many(vec![4, 0, 2, 4]);
    assert_eq!(many.unwrap(), [2, 0, 0, 2]);
}

#[test]
fn windows_overlap_and_are_complete() {
    let dataset = numbers(4);
    let walked: Vec<_> = dataset.windows(3).map(Result::unwrap).collect();
    assert_eq!(walked, [[0, 1, 2], [1, 2, 3]]);
    assert_eq!(items(&WindowsDataset::new(numbers(4), 3)), walked);
    assert!(WindowsDataset::<_, usize>::new(numbers(4), 5).is_empty());
}

// The four checks of BC-093.

#[test]
fn sampling_all_items_without_replacement_is_a_permutation() {
    let sampler = SamplerDataset::without_replacement(numbers(4), 4);
    for _pass in 0..20 {
        assert_eq!(sorted(items(&sampler)), [0, 1, 2, 3]);
    }
}

#[test]
fn sampling_beyond_the_source_without_replacement_is_even() {
    let sampler = SamplerDataset::without_replacement(numbers(4), 10);
    for _pass in 0..20 {
        let counts = counts(&items(&sampler), 4);
        assert!(
            counts.iter().all(|count| (2..=3).contains(count)),
            "{counts:?}"
        );
    }
}

#[test]
fn sampling_with_replacement_is_uniform() {
    let options = SamplerDatasetOptions::from(40_000)
        .with_replacement()
        .with_seed(11);
    let counts = counts(&items(&SamplerDataset::new(numbers(4), options)), 4);
    // The standard deviation of a count is sqrt(40000 · 1/4 · 3/4) ≈ 87.
    assert!(
        counts.iter().all(|count| count.abs_diff(10_000) <= 400),
        "{counts:?}"
    );
}

#[test]
fn the_same_seed_samples_the_same_sequence() {
    for replace in [false, true] {
        let draw = |seed| {
            let options = SamplerDatasetOptions::from(30)
                .with_replace_samples(replace)
                .with_seed(seed);
            items(&SamplerDataset::new(numbers(10), options))
        };
        assert_eq!(draw(5), draw(5));
        assert_ne!(draw(5), draw(6));
    }
}

#[test]
fn a_small_sample_without_replacement_never_repeats_within_a_pass() {
    let sampler = SamplerDataset::without_replacement(numbers(4), 3);
    for _pass in 0..50 {
        let mut drawn = sorted(items(&sampler));
        drawn.dedup();
        assert_eq!(drawn.len(), 3);
    }
}

#[test]
fn the_size_of_a_sample_is_fixed_or_follows_the_source() {
    let len = |options: SamplerDatasetOptions| SamplerDataset::new(numbers(5), options).len();
    assert_eq!(len(SamplerDatasetOptions::default()), 5);
    assert_eq!(
        len(SamplerDatasetOptions::default().with_size_ratio(1.5)),
        7
    );
    assert_eq!(len(SamplerDatasetOptions::default().with_fixed_size(2)), 2);
    assert_eq!(len(None::<usize>.into()), 5);
    assert!(SamplerDataset::new(numbers(5), 7).is_with_replacement());
}

#[test]
#[should_panic(expected = "cannot draw 4 items from an empty dataset")]
fn sampling_from_nothing_panics() {
    SamplerDataset::with_replacement(numbers(0), 4);
}

#[test]
#[should_panic(expected = "size ratio NaN is not zero or more")]
fn a_size_ratio_that_is_not_a_number_panics() {
    SizeConfig::Ratio(f64::NAN).resolve(10);
}

proptest! {
    #[test]
    fn a_shuffle_is_a_permutation_given_by_its_seed(len in 0usize..200, seed: u64) {
        let shuffled = items(&ShuffledDataset::with_seed(numbers(len), seed));
        prop_assert_eq!(sorted(shuffled.clone()), (0..len).collect::<Vec<_>>());
        prop_assert_eq!(items(&ShuffledDataset::new(numbers(len), seed)), shuffled);
    }

    #[test]
    fn parts_of_a_split_put_together_are_the_whole(len in 0usize..100, num in 1usize..12, batch in 1usize..9) {
        let whole: Vec<_> = (0..len).collect();
        let split = PartialDataset::split(numbers(len), num);
        prop_assert_eq!(split.len(), num);
        prop_assert_eq!(split.iter().flat_map(items).collect::<Vec<_>>(), whole.clone());
        let chunks = PartialDataset::split_chunks(numbers(len), num, batch);
        prop_assert!(chunks.len() <= num);
        prop_assert_eq!(chunks.iter().flat_map(items).collect::<Vec<_>>(), whole);
    }
}
