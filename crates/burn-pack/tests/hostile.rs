//! Files that are cut, damaged or made to do harm give an error: no panic, no invented values, and no memory for what
//! they only claim to hold.

#![expect(clippy::unwrap_used, reason = "a test fails where a helper panics")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use burn_pack::*;
use ciborium::{Value, cbor};
use proptest::prelude::*;

/// Remembers the largest allocation of the thread.
struct Watch;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: forwards to the system's allocator.
unsafe impl GlobalAlloc for Watch {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // Not there any more while the thread ends.
        let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(layout.size())));
        // SAFETY: the caller's promise is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is the same.
        unsafe { System.dealloc(ptr, layout) }
    }
}

#[global_allocator]
static WATCH: Watch = Watch;

fn valid() -> Vec<u8> {
    let tensor = |name: &str, dtype, shape: &[usize], len| {
        Tensor::new(name.into(), dtype, shape, Some(3), Bytes::zeroed(len))
    };
    let tensors = vec![
        tensor("w", DType::F32, &[2, 3], 24),
        tensor("b", DType::U8, &[3], 3),
    ];
    let writer = Writer::new(tensors)
        .with_metadata("k", "v")
        .with_scalar("s", 1.5.into());
    writer.into_bytes().unwrap().to_vec()
}

/// A file with these bytes of metadata and `data` bytes of data.
fn file(metadata: &[u8], data: usize) -> Vec<u8> {
    let mut bytes = Header::new(metadata.len() as u32).into_bytes().to_vec();
    bytes.extend_from_slice(metadata);
    bytes.resize(aligned_data_section_start(metadata.len()) + data, 0);
    bytes
}

fn encode(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    ciborium::into_writer(value, &mut bytes).unwrap();
    bytes
}

/// Reads all that there is, from memory and from a file.
fn read_all(bytes: &[u8]) -> Result<(), Error> {
    Bytes::allocate_singly();
    fn all(reader: Reader) -> Result<(), Error> {
        for tensor in reader.into_tensors()? {
            let bytes = tensor.to_bytes()?;
            assert_eq!(
                bytes.len(),
                tensor.shape.num_elements() * tensor.dtype.size()
            );
        }
        Ok(())
    }
    let path = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&path, bytes).unwrap();
    let from_file = Reader::from_file_exact(&path).and_then(all);
    let from_memory = Reader::from_bytes(Bytes::from_bytes_vec(bytes.to_vec())).and_then(all);
    assert_eq!(from_file, from_memory);
    from_memory
}

/// The error that a file with this metadata gives.
#[track_caller]
fn refused(metadata: ciborium::Value, data: usize) -> String {
    read_all(&file(&encode(&metadata), data))
        .unwrap_err()
        .to_string()
}

#[track_caller]
fn refused_tensor(shape: &[u64], start: u64, end: u64) -> String {
    let shape: Vec<Value> = shape.iter().map(|&dim| dim.into()).collect();
    let tensor =
        cbor!({"dtype" => "U8", "shape" => shape, "data_offsets" => [start, end]}).unwrap();
    refused(cbor!({"tensors" => {"t" => tensor}}).unwrap(), 8)
}

#[test]
fn a_valid_file_is_read() {
    assert_eq!(read_all(&valid()), Ok(()));
}

#[test]
fn other_files_are_refused() {
    let mut version = valid();
    version[4] = 2;
    assert_eq!(read_all(&version), Err(Error::InvalidVersion));
    assert_eq!(
        read_all(b"PK\x03\x04 and so on"),
        Err(Error::InvalidMagicNumber)
    );
    assert_eq!(read_all(b"NRUB"), Err(Error::InvalidHeader));
    assert_eq!(read_all(b""), Err(Error::InvalidHeader));
}

#[test]
fn every_truncation_is_refused() {
    let valid = valid();
    // The last tensor ends the file, so each byte is needed.
    for len in 0..valid.len() {
        assert!(
            read_all(&valid[..len]).is_err(),
            "{len} bytes of {}",
            valid.len()
        );
    }
}

#[test]
fn a_file_that_shrinks_after_it_was_opened_gives_an_error() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, valid()).unwrap();
    let tensors = Reader::from_file(&file).unwrap().into_tensors().unwrap();
    file.as_file().set_len(300).unwrap();
    assert!(matches!(tensors[0].to_bytes(), Err(Error::IoError(_))));
}

#[test]
fn a_huge_metadata_size_is_refused() {
    let mut bytes = valid();
    for size in [u32::MAX, MAX_METADATA_SIZE, bytes.len() as u32] {
        bytes[6..10].copy_from_slice(&size.to_le_bytes());
        assert!(matches!(read_all(&bytes), Err(Error::ValidationError(_))));
    }
}

#[test]
fn offsets_outside_of_the_data_are_refused() {
    let outside =
        |start, end| format!("tensor 't' is at bytes {start}..{end} of the data, which has 8");
    assert!(refused_tensor(&[9], 0, 9).ends_with(&outside(0, 9)));
    assert!(
        refused_tensor(&[1], u64::MAX - 1, u64::MAX).ends_with(&outside(u64::MAX - 1, u64::MAX))
    );
    assert!(refused_tensor(&[1], 4, 3).ends_with(&outside(4, 3)));
}

#[test]
fn a_size_that_is_not_that_of_the_shape_is_refused() {
    let error = refused_tensor(&[2, 2], 0, 3);
    assert!(
        error.ends_with("tensor 't' has 3 bytes but its shape [2, 2] and dtype u8 need 4"),
        "{error}"
    );
}

#[test]
fn a_shape_that_overflows_is_refused() {
    for shape in [
        &[u64::MAX, 2][..],
        &[1 << 32, 1 << 32],
        &[0, u64::MAX, 2],
        &[u64::MAX, 2, 0],
    ] {
        let error = refused_tensor(shape, 0, 0);
        assert!(error.ends_with("of tensor 't' overflows"), "{error}");
    }
}

#[test]
fn overlapping_tensors_are_refused() {
    let tensor = |start: u64| {
        cbor!({"dtype" => "U8", "shape" => [4], "data_offsets" => [start, start + 4]}).unwrap()
    };
    let two = |first: u64, second: u64| {
        cbor!({"tensors" => {"a" => tensor(first), "b" => tensor(second)}}).unwrap()
    };
    assert!(refused(two(0, 3), 8).ends_with("tensors 'a' and 'b' overlap"));
    assert!(refused(two(2, 2), 8).ends_with("tensors 'a' and 'b' overlap"));
    assert_eq!(read_all(&file(&encode(&two(4, 0)), 8)), Ok(()));
}

#[test]
fn repeated_names_are_refused() {
    let tensor = cbor!({"dtype" => "U8", "shape" => [0], "data_offsets" => [0, 0]}).unwrap();
    let twice = |value: &Value| {
        Value::Map(vec![
            ("n".into(), value.clone()),
            ("n".into(), value.clone()),
        ])
    };
    let empty = || Value::Map(vec![]);
    assert!(refused(cbor!({"tensors" => twice(&tensor)}).unwrap(), 0).contains("'n' comes twice"));
    let error = refused(
        cbor!({"tensors" => empty(), "metadata" => twice(&"v".into())}).unwrap(),
        0,
    );
    assert!(error.contains("'n' comes twice"), "{error}");
    let fields = Value::Map(vec![
        ("tensors".into(), empty()),
        ("tensors".into(), empty()),
    ]);
    assert!(refused(fields, 0).contains("duplicate field"));
}

#[test]
fn unknown_dtypes_and_missing_fields_are_refused_and_unknown_fields_ignored() {
    let with = |dtype: &str| cbor!({"tensors" => {"t" => {"dtype" => dtype, "shape" => [0], "data_offsets" => [0, 0]}}});
    assert!(refused(with("F7").unwrap(), 0).contains("F7"));
    assert!(refused(cbor!({"metadata" => {}}).unwrap(), 0).contains("tensors"));
    let unknown = cbor!({"tensors" => {}, "later" => [1, {"a" => null}]}).unwrap();
    assert_eq!(read_all(&file(&encode(&unknown), 0)), Ok(()));
}

#[test]
fn deep_metadata_is_refused() {
    // {"tensors": {}, "x": [[[…]]]} and the same with tags.
    for byte in [0x81, 0xc1] {
        let mut metadata = b"\xa2\x67tensors\xa0\x61x".to_vec();
        metadata.resize(1 << 20, byte);
        assert!(matches!(
            read_all(&file(&metadata, 0)),
            Err(Error::MetadataDeserializationError(_))
        ));
    }
}

#[test]
fn bytes_behind_the_metadata_are_refused() {
    let mut metadata = encode(&cbor!({"tensors" => {}}).unwrap());
    metadata.push(0);
    let error = read_all(&file(&metadata, 0)).unwrap_err().to_string();
    assert!(
        error.ends_with("1 bytes are left behind the metadata"),
        "{error}"
    );
}

#[test]
fn a_claimed_length_allocates_nothing() {
    let claims: [&[u8]; 6] = [
        // {"tensors": {"t": {"shape": [2^40 elements …
        b"\xa1\x67tensors\xa1\x61t\xa1\x65shape\x9b\x00\x00\x01\x00\x00\x00\x00\x00\x01",
        // {"tensors": {2^40 entries …
        b"\xa1\x67tensors\xbb\x00\x00\x01\x00\x00\x00\x00\x00",
        // {"tensors": {a name of 2^40 bytes …
        b"\xa1\x67tensors\xa1\x7b\x00\x00\x01\x00\x00\x00\x00\x00abc",
        // {"tensors": {}, "metadata": {"k": a text of 2^40 bytes …
        b"\xa2\x67tensors\xa0\x68metadata\xa1\x61k\x7b\x00\x00\x01\x00\x00\x00\x00\x00abc",
        // {"tensors": {}, "x": 2^40 bytes …
        b"\xa2\x67tensors\xa0\x61x\x5b\x00\x00\x01\x00\x00\x00\x00\x00abc",
        // 2^40 entries …
        b"\xbb\x00\x00\x01\x00\x00\x00\x00\x00\x67tensors\xa0",
    ];
    for metadata in claims {
        let bytes = file(metadata, 0);
        LARGEST.set(0);
        assert!(read_all(&bytes).is_err());
        // serde reserves up to 1 MiB for the length of a list before it has seen the elements.
        assert!(
            LARGEST.get() <= 1 << 20,
            "{} bytes for {metadata:x?}",
            LARGEST.get()
        );
    }
    let tensor =
        cbor!({"dtype" => "U8", "shape" => [1u64 << 40], "data_offsets" => [0, 1u64 << 40]})
            .unwrap();
    let bytes = file(&encode(&cbor!({"tensors" => {"t" => tensor}}).unwrap()), 8);
    LARGEST.set(0);
    assert!(read_all(&bytes).is_err());
    assert!(LARGEST.get() <= 1 << 20);
}

proptest! {
    #[test]
    fn flipped_bytes_never_panic(flips in proptest::collection::vec((any::<prop::sample::Index>(), 1u8..), 1..4)) {
        let mut bytes = valid();
        for (at, flip) in flips {
            // Damage to elements cannot be seen; all else is before byte 300.
            let at = at.index(300);
            bytes[at] ^= flip;
        }
        LARGEST.set(0);
        let _ = read_all(&bytes);
        prop_assert!(LARGEST.get() <= 1 << 20);
    }

    #[test]
    fn random_metadata_never_panics(metadata in proptest::collection::vec(any::<u8>(), 0..200), data in 0usize..20) {
        let _ = read_all(&file(&metadata, data));
        let mut map = b"\xa1\x67tensors".to_vec();
        map.extend(metadata);
        let _ = read_all(&file(&map, data));
    }

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let _ = read_all(&bytes);
    }
}
