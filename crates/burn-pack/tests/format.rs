//! What is written comes back, and the bytes are those of the format.

#![expect(clippy::unwrap_used, reason = "a test fails where a helper panics")]

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use burn_pack::*;
use burn_std::{BoolStore, bf16};
use proptest::prelude::*;

const DTYPES: [DType; 15] = [
    DType::F64,
    DType::F32,
    DType::F16,
    DType::BF16,
    DType::I64,
    DType::I32,
    DType::I16,
    DType::I8,
    DType::U64,
    DType::U32,
    DType::U16,
    DType::U8,
    DType::Bool(BoolStore::Native),
    DType::Bool(BoolStore::U8),
    DType::Bool(BoolStore::U32),
];

fn tensor(
    name: &str,
    dtype: DType,
    shape: &[usize],
    param_id: Option<u64>,
    bytes: &[u8],
) -> Tensor {
    Tensor::new(
        name.into(),
        dtype,
        shape,
        param_id,
        Bytes::from_bytes_vec(bytes.to_vec()),
    )
}

fn byte(name: &str, value: u8) -> Tensor {
    tensor(name, DType::U8, &[1], None, &[value])
}

fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests/fixtures", name]
        .iter()
        .collect()
}

/// The content of `tests/fixtures/burn-0.22.1/sample.bpk`, see the README there.
fn sample() -> Writer {
    let weight = [1.0f32, -2.0, 0.5, f32::INFINITY, -0.0, 3.25]
        .map(f32::to_le_bytes)
        .concat();
    let bias = [1.5, -3.0]
        .map(|x| bf16::from_f32(x).to_le_bytes())
        .concat();
    Writer::new(vec![
        tensor("fc.weight", DType::F32, &[2, 3], Some(7), &weight),
        tensor("fc.bias", DType::BF16, &[2], Some(u64::MAX), &bias),
        tensor("step", DType::I64, &[], None, &(-5i64).to_le_bytes()),
        tensor(
            "mask",
            DType::Bool(BoolStore::Native),
            &[3],
            None,
            &[1, 0, 1],
        ),
        tensor("empty", DType::F16, &[0, 3], None, &[]),
    ])
    .with_metadata("producer", "a test")
    .with_metadata("epoch", "3")
    .with_scalar("lr", 1.5f64.into())
    .with_scalar("tiny", 1e-300f64.into())
    .with_scalar("offset", (-3i32).into())
    .with_scalar("count", 3u8.into())
    .with_scalar("done", true.into())
}

/// The content of `tests/fixtures/own/dtypes.bpk`: two elements of each dtype, counting up.
fn dtypes() -> Writer {
    let tensors = DTYPES.map(|dtype| {
        let bytes: Vec<u8> = match dtype {
            DType::Bool(_) => (0..2 * dtype.size()).map(|i| u8::from(i == 0)).collect(),
            _ => (1..=2 * dtype.size() as u8).collect(),
        };
        tensor(dtype.name(), dtype, &[2, 1], None, &bytes)
    });
    Writer::new(tensors.into())
        .with_metadata("of", "every dtype")
        .with_scalar("version", 1u64.into())
}

/// Everything a reader tells, in one comparable value.
fn content(reader: Reader) -> impl PartialEq + std::fmt::Debug {
    let (metadata, scalars) = (reader.metadata().clone(), reader.scalars().clone());
    let tensors = reader
        .into_tensors()
        .unwrap()
        .into_iter()
        .map(|t| t.into_parts().unwrap());
    (metadata, scalars, tensors.collect::<Vec<_>>())
}

fn read(writer: Writer) -> Reader {
    Reader::from_bytes(writer.into_bytes().unwrap()).unwrap()
}

#[test]
fn the_bytes_are_those_of_the_peer() {
    let peer = fs::read(fixture("burn-0.22.1/sample.bpk")).unwrap();
    assert_eq!(&sample().into_bytes().unwrap()[..], peer);
}

#[test]
fn a_file_of_the_peer_is_read() {
    let reader = Reader::from_file(fixture("burn-0.22.1/sample")).unwrap();
    assert_eq!(
        reader.tensor_names(),
        ["empty", "fc.bias", "fc.weight", "mask", "step"]
    );
    assert_eq!(reader.tensor_data("step").unwrap(), (-5i64).to_le_bytes());
    assert_eq!(reader.scalars()["tiny"], Scalar::Float(1e-300));
    assert_eq!(content(reader), content(read(sample())));
}

#[test]
fn the_bytes_are_those_of_the_first_release() {
    let golden = fs::read(fixture("own/dtypes.bpk")).unwrap();
    assert_eq!(&dtypes().into_bytes().unwrap()[..], golden);
}

#[test]
fn the_header_is_ten_little_endian_bytes() {
    let header = Header::new(0x0403_0201).into_bytes();
    assert_eq!(header, *b"NRUB\x01\x00\x01\x02\x03\x04");
    assert_eq!(
        Header::from_bytes(&header).unwrap(),
        Header::new(0x0403_0201)
    );
}

#[test]
fn data_starts_at_a_multiple_of_the_alignment() {
    assert_eq!(
        [0, 246, 247].map(aligned_data_section_start),
        [256, 256, 512]
    );
}

#[test]
fn read_elements_are_aligned_for_any_dtype() {
    for tensor in read(sample()).into_tensors().unwrap() {
        assert!(
            tensor
                .to_bytes()
                .unwrap()
                .as_ptr()
                .addr()
                .is_multiple_of(tensor.dtype.size())
        );
    }
}

#[test]
fn a_file_without_tensors_is_valid() {
    let bytes = Writer::new(vec![]).into_bytes().unwrap();
    assert_eq!(bytes.len(), 256);
    assert!(Reader::from_bytes(bytes).unwrap().tensor_names().is_empty());
}

#[test]
fn a_buffer_may_be_larger_but_not_smaller() {
    let size = sample().size().unwrap();
    let mut buffer = vec![0xff; size + 1];
    sample().write_into(&mut buffer).unwrap();
    assert_eq!(buffer[size], 0xff);
    assert_eq!(buffer[..size], sample().into_bytes().unwrap()[..]);
    let error = sample().write_into(&mut buffer[..size - 1]).unwrap_err();
    let expected = format!("the buffer has {} bytes but {size} are needed", size - 1);
    assert_eq!(error, Error::IoError(expected));
}

#[test]
fn a_repeated_name_is_not_written() {
    let error = Writer::new(vec![byte("a", 1), byte("a", 2)])
        .size()
        .unwrap_err();
    assert_eq!(
        error,
        Error::ValidationError("the name 'a' comes twice".into())
    );
}

#[test]
fn a_size_that_is_not_that_of_the_shape_is_not_written() {
    let error = Writer::new(vec![tensor("n", DType::F32, &[2], None, &[0; 4])])
        .into_bytes()
        .unwrap_err();
    let expected = "tensor 'n' has 4 bytes but its shape [2] and dtype f32 need 8";
    assert_eq!(error, Error::ValidationError(expected.into()));
}

#[test]
fn a_deferred_tensor_is_read_when_asked_for_and_each_time() {
    let reads = Arc::new(AtomicUsize::new(0));
    let count = reads.clone();
    let tensor = Tensor::deferred("n".into(), DType::U8, [2], None, 2, move || {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Bytes::from_bytes_vec(vec![1, 2]))
    });
    assert_eq!((tensor.byte_len(), reads.load(Ordering::Relaxed)), (2, 0));
    assert_eq!(tensor.to_bytes().unwrap()[..], [1, 2]);
    assert_eq!(tensor.into_bytes().unwrap()[..], [1, 2]);
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

#[test]
fn a_deferred_tensor_must_give_what_it_declared() {
    let lie = || Tensor::deferred("n".into(), DType::U8, [2], None, 2, || Ok(Bytes::zeroed(1)));
    let expected =
        Error::TensorBytesSizeMismatch("tensor 'n' declares 2 bytes, its source gave 1".into());
    assert_eq!(lie().to_bytes().unwrap_err(), expected);
    assert_eq!(lie().into_parts().unwrap_err(), expected);
    assert_eq!(Writer::new(vec![lie()]).into_bytes().unwrap_err(), expected);
}

#[test]
fn an_unknown_name_is_an_error() {
    let error = read(sample()).tensor_data("fc").unwrap_err();
    assert_eq!(error, Error::TensorNotFound("fc".into()));
}

#[test]
fn a_path_without_extension_gets_one() {
    let dir = tempfile::tempdir().unwrap();
    Writer::new(vec![byte("with", 1)])
        .write_to_file(dir.path().join("model"))
        .unwrap();
    assert!(dir.path().join("model.bpk").is_file());
    let name = |path: &str| {
        Reader::from_file(dir.path().join(path))
            .unwrap()
            .tensor_names()[0]
            .to_string()
    };
    assert_eq!(name("model"), "with");
    Writer::new(vec![byte("without", 1)])
        .auto_extension(false)
        .write_to_file(dir.path().join("model"))
        .unwrap();
    assert_eq!(name("model"), "without");
    assert_eq!(name("model.bpk"), "with");
    let error = Reader::from_file_exact(dir.path().join("none"))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot open") && error.contains("none'"),
        "{error}"
    );
}

#[test]
fn overwriting_can_be_forbidden() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.bpk");
    Writer::new(vec![byte("a", 1)])
        .overwrite(false)
        .write_to_file(&path)
        .unwrap();
    let exists = Error::AlreadyExists(path.display().to_string());
    assert_eq!(
        Writer::new(vec![])
            .overwrite(false)
            .write_to_file(&path)
            .unwrap_err(),
        exists
    );
    assert_eq!(
        Writer::new(vec![])
            .overwrite(false)
            .write_to_file_in_place(&path)
            .unwrap_err(),
        exists
    );
    assert_eq!(Reader::from_file(&path).unwrap().tensor_names(), ["a"]);
    Writer::new(vec![byte("b", 1)])
        .write_to_file(&path)
        .unwrap();
    assert_eq!(Reader::from_file(&path).unwrap().tensor_names(), ["b"]);
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.bpk");
    Writer::new(vec![byte("a", 1)])
        .write_to_file(&path)
        .unwrap();
    let fails = Tensor::deferred("n".into(), DType::U8, [1], None, 1, || {
        Err(Error::IoError("lost".into()))
    });
    let error = Writer::new(vec![byte("b", 1), fails])
        .write_to_file(&path)
        .unwrap_err();
    assert_eq!(error, Error::IoError("lost".into()));
    assert_eq!(Reader::from_file(&path).unwrap().tensor_names(), ["a"]);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_file_can_be_written_over_while_its_tensors_are_deferred() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("model.bpk");
    let tensors = || Reader::from_file(&path).unwrap().into_tensors().unwrap();
    Writer::new(vec![byte("a", 7)])
        .write_to_file(&path)
        .unwrap();
    Writer::new(tensors()).write_to_file(&path).unwrap();
    Writer::new(tensors())
        .write_to_file_in_place(&path)
        .unwrap();
    let old = tensors();
    Writer::new(vec![byte("b", 8)])
        .write_to_file(&path)
        .unwrap();
    assert_eq!(old[0].to_bytes().unwrap()[..], [7]);
    assert_eq!(tensors()[0].to_bytes().unwrap()[..], [8]);
}

#[test]
fn an_atomic_file_appears_with_its_commit() {
    use std::io::Write;
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("file");
    let write = |text: &str| {
        let (atomic, mut file) = AtomicFile::create(&path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        atomic
    };
    let dropped = write("dropped");
    assert!(dropped.path().is_file() && !path.exists());
    drop(dropped);
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    write("new").commit_new().unwrap();
    assert_eq!(
        write("late").commit_new(),
        Err(Error::AlreadyExists(path.display().to_string()))
    );
    assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    write("newer").commit().unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "newer");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_missing_directory_is_named() {
    let error = Writer::new(vec![])
        .write_to_file("no/such/model")
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot create 'no/such/model.bpk"),
        "{error}"
    );
}

#[test]
fn scalars_convert_where_they_fit() {
    assert_eq!(u8::try_from(Scalar::from(255i64)), Ok(255));
    assert_eq!(
        u8::try_from(Scalar::from(256u64)),
        Err(ScalarConversionError)
    );
    assert_eq!(
        u64::try_from(Scalar::from(-1i8)),
        Err(ScalarConversionError)
    );
    assert_eq!(i64::try_from(Scalar::from(2.0)), Err(ScalarConversionError));
    assert_eq!(f32::try_from(Scalar::from(3u8)), Ok(3.0));
    assert_eq!(
        bool::try_from(Scalar::from(1u8)),
        Err(ScalarConversionError)
    );
    assert_eq!(
        f64::try_from(Scalar::from(true)),
        Err(ScalarConversionError)
    );
    assert_eq!(bool::try_from(Scalar::from(true)), Ok(true));
}

fn any_tensor() -> impl Strategy<Value = (DType, Vec<usize>, Option<u64>, Vec<u8>)> {
    let shape = proptest::collection::vec(0usize..5, 0..4);
    (
        proptest::sample::select(&DTYPES[..]),
        shape,
        any::<Option<u64>>(),
    )
        .prop_flat_map(|(dtype, shape, id)| {
            let len = shape.iter().product::<usize>() * dtype.size();
            let bytes = proptest::collection::vec(any::<u8>(), len);
            (Just(dtype), Just(shape), Just(id), bytes)
        })
}

proptest! {
    #[test]
    fn what_is_written_comes_back(
        tensors in proptest::collection::btree_map(".{0,8}", any_tensor(), 0..6),
        metadata in proptest::collection::btree_map(".{0,8}", ".{0,40}", 0..4),
        ints in proptest::collection::btree_map("[a-z]{0,4}", any::<i64>(), 0..4),
    ) {
        // Against the order of names, so that the data is not in the order of the metadata.
        let reversed = tensors.iter().rev();
        let mut writer = Writer::new(
            reversed.map(|(name, (dtype, shape, id, bytes))| tensor(name, *dtype, shape, *id, bytes)).collect(),
        );
        for (name, text) in &metadata {
            writer = writer.with_metadata(name, text);
        }
        for (name, value) in &ints {
            writer = writer.with_scalar(name, (*value).into());
        }
        let size = writer.size().unwrap();
        let bytes = writer.into_bytes().unwrap();
        prop_assert_eq!(bytes.len(), size);

        let reader = Reader::from_bytes(bytes).unwrap();
        prop_assert_eq!(reader.metadata(), &metadata);
        let scalars: Vec<_> = ints.into_iter().map(|(name, value)| (name, Scalar::Int(value))).collect();
        prop_assert_eq!(reader.scalars().clone().into_iter().collect::<Vec<_>>(), scalars);
        let read: Vec<_> = reader.into_tensors().unwrap().into_iter().map(|t| t.into_parts().unwrap()).collect();
        let written: Vec<_> = tensors
            .into_iter()
            .map(|(name, (dtype, shape, id, bytes))| (name, dtype, shape.into(), id, bytes.into()))
            .collect();
        prop_assert_eq!(read, written);
    }
}
