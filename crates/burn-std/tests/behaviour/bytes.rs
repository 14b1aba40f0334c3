//! The byte buffer: who owns the allocation, and how it is aligned.

use burn_std::Bytes;

#[test]
fn a_vector_goes_in_and_comes_out_without_a_copy() {
    let mut elems = Vec::with_capacity(10);
    elems.extend([1.5f32, -2.0]);
    let address = elems.as_ptr().addr();
    let bytes = Bytes::from_elems(elems);
    assert_eq!(
        (bytes.len(), bytes.align(), bytes.as_ptr().addr()),
        (8, 4, address)
    );
    let elems = bytes.try_into_vec::<f32>().unwrap();
    assert_eq!(
        (&elems[..], elems.capacity(), elems.as_ptr().addr()),
        (&[1.5, -2.0][..], 10, address)
    );
}

#[test]
fn an_element_of_the_same_layout_fits_too() {
    let bytes = Bytes::from_elems(vec![-1i32]);
    assert_eq!(bytes.try_into_vec::<u32>().unwrap(), [u32::MAX]);
}

#[test]
fn bytes_that_do_not_fit_come_back_unchanged() {
    let bytes = Bytes::from_elems(vec![1u8, 2, 3, 4]);
    let bytes = bytes.try_into_vec::<u32>().unwrap_err();
    let bytes = bytes.try_into_vec::<bool>().unwrap_err();
    assert_eq!(*bytes, [1, 2, 3, 4]);
    assert!(
        Bytes::zeroed(4).try_into_vec::<u8>().is_err(),
        "freed with another alignment"
    );
}

#[test]
fn own_allocations_are_aligned_to_a_cache_line() {
    let zeroed = Bytes::zeroed(100);
    assert!(zeroed.iter().all(|byte| *byte == 0));
    let copy = Bytes::from_elems(vec![7u8; 3]).clone();
    assert_eq!(*copy, [7, 7, 7]);
    for bytes in [zeroed, copy, Bytes::zeroed(0)] {
        assert_eq!(bytes.align(), 64);
        assert_eq!(bytes.as_ptr().addr() % 64, 0);
    }
}

#[test]
fn uninit_holds_what_is_written() {
    // SAFETY: the next line writes all bytes.
    let mut bytes = unsafe { Bytes::uninit(5) };
    bytes.fill(9);
    assert_eq!(*bytes, [9; 5]);
}

#[test]
fn empty_buffers_become_any_vector() {
    let from_vector = Bytes::from_elems(Vec::<f64>::new());
    assert!(from_vector.try_into_vec::<u8>().unwrap().is_empty());
    assert!(Bytes::default().try_into_vec::<f64>().unwrap().is_empty());
    assert_eq!(Bytes::from_elems(vec![(); 3]).len(), 0);
}

#[test]
fn a_buffer_moves_between_threads() {
    let bytes = Bytes::from_elems(vec![1u64; 1000]);
    let sum = std::thread::spawn(move || bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>());
    assert_eq!(sum.join().unwrap(), 1000);
}

#[test]
fn debug_shows_the_length_only() {
    assert_eq!(format!("{:?}", Bytes::zeroed(3)), "Bytes { len: 3, .. }");
}

#[test]
fn what_a_large_vector_holds_beyond_its_elements_is_given_back() {
    let mut half: Vec<i32> = Vec::with_capacity(1 << 17);
    half.resize(1 << 16, 7);
    let back = Bytes::from_elems(half)
        .try_into_vec::<i32>()
        .expect("it was a vector of these");
    assert_eq!((back.len(), back.capacity()), (1 << 16, 1 << 16));
    let small: Vec<i32> = Vec::with_capacity(100);
    let back = Bytes::from_elems(small).try_into_vec::<i32>();
    assert!(back.is_ok_and(|small| small.is_empty()));
}
