//! Images in folders and in collections: what is known of them, and what is wrong with them.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use burn_dataset::Dataset;
use burn_dataset::vision::{
    Annotation, BoundingBox, ImageFolderDataset, ImageLoaderError, MnistDataset, PixelData,
    PixelDepth, SegmentationMask,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use image::{GrayImage, ImageBuffer, Luma, Rgb, RgbImage};

/// A picture of 3 by 2 pixels whose red channel counts them.
fn colour(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    RgbImage::from_fn(3, 2, |x, y| Rgb([(y * 3 + x) as u8, 100, 200]))
        .save(path)
        .unwrap();
}

fn grey(path: &Path, width: u32, height: u32) {
    GrayImage::from_fn(width, height, |x, y| Luma([(y * width + x) as u8]))
        .save(path)
        .unwrap();
}

fn labels(dataset: &ImageFolderDataset) -> Vec<(String, Annotation)> {
    let items = dataset.iter().map(|item| item.unwrap());
    let name = |path: &str| {
        Path::new(path)
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned()
    };
    items
        .map(|item| (name(&item.image_path), item.annotation))
        .collect()
}

#[test]
fn folders_are_classes_in_the_order_of_their_names() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["dog/2.png", "cat/b.JPG", "cat/deep/a.jpeg", "dog/1.png"] {
        colour(&dir.path().join(name));
    }
    fs::write(dir.path().join("cat/notes.txt"), "no image").unwrap();
    fs::write(dir.path().join("notes.txt"), "no class").unwrap();
    let dataset = ImageFolderDataset::new_classification(dir.path()).unwrap();
    let expected = [("b.JPG", 0), ("a.jpeg", 0), ("1.png", 1), ("2.png", 1)];
    let expected = expected.map(|(name, label)| (name.to_owned(), Annotation::Label(label)));
    assert_eq!(labels(&dataset), expected);

    let item = dataset.get(2).unwrap();
    assert_eq!((item.image_width, item.image_height), (3, 2));
    let expected: Vec<u8> = (0..6).flat_map(|pixel| [pixel, 100, 200]).collect();
    assert_eq!(item.image, PixelData::U8(expected));

    let only = ImageFolderDataset::new_classification_with(dir.path(), &["PNG"]).unwrap();
    assert_eq!(only.len(), 2);
    let wrong = ImageFolderDataset::new_classification_with(dir.path(), &["bmp"]).unwrap_err();
    assert!(
        matches!(&wrong, ImageLoaderError::InvalidFileExtensionError(text) if text.contains("`bmp`"))
    );
}

#[test]
fn listed_images_have_one_label_or_several() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.png");
    colour(&path);
    let classes = ["cat", "dog"];
    let one =
        ImageFolderDataset::new_classification_with_items(vec![(&path, "dog".into())], &classes);
    assert_eq!(
        one.unwrap().get(0).unwrap().annotation,
        Annotation::Label(1)
    );
    let several = vec![(&path, vec!["dog".into(), "cat".into()]), (&path, vec![])];
    let several =
        ImageFolderDataset::new_multilabel_classification_with_items(several, &classes).unwrap();
    assert_eq!(
        several.get(0).unwrap().annotation,
        Annotation::MultiLabel(vec![1, 0])
    );
    assert_eq!(
        several.get(1).unwrap().annotation,
        Annotation::MultiLabel(vec![])
    );

    let unknown =
        ImageFolderDataset::new_classification_with_items(vec![(&path, "cow".into())], &classes);
    let unknown = unknown.unwrap_err().to_string();
    assert!(
        unknown.contains("x.png: the class `cow` is not listed"),
        "{unknown}"
    );
    let text =
        ImageFolderDataset::new_classification_with_items(vec![("x.txt", "dog".into())], &classes);
    assert!(matches!(
        text,
        Err(ImageLoaderError::InvalidFileExtensionError(_))
    ));
}

#[test]
fn a_mask_has_a_class_for_each_pixel() {
    let dir = tempfile::tempdir().unwrap();
    let [image, mask, small] =
        ["image.png", "mask.png", "small.png"].map(|name| dir.path().join(name));
    colour(&image);
    grey(&mask, 3, 2);
    grey(&small, 2, 2);
    let read = |mask: &Path| {
        let items = vec![(image.clone(), mask.to_owned())];
        ImageFolderDataset::new_segmentation_with_items(items, &["a", "b"])
            .unwrap()
            .get(0)
    };
    let expected = SegmentationMask {
        mask: vec![0, 1, 2, 3, 4, 5],
    };
    assert_eq!(
        read(&mask).unwrap().annotation,
        Annotation::SegmentationMask(expected)
    );
    let error = read(&small).unwrap_err().to_string();
    assert!(
        error.contains("small.png: the mask has 2 by 2 pixels, its image 3 by 2"),
        "{error}"
    );
    let error = read(&image).unwrap_err().to_string();
    assert!(
        error.contains("image.png: a mask has one channel"),
        "{error}"
    );
}

#[test]
fn objects_come_with_their_image() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["1.png", "2.png"] {
        colour(&dir.path().join(name));
    }
    let file = dir.path().join("objects.json");
    let read = |images: &str, annotations: &str| {
        let categories = r#"[{"id": 9, "name": "dog"}, {"id": 4, "name": "cat"}]"#;
        let text = format!(
            r#"{{"info": {{}}, "images": [{images}], "annotations": [{annotations}], "categories": {categories}}}"#
        );
        fs::write(&file, text).unwrap();
        ImageFolderDataset::new_coco_detection(&file, dir.path())
    };
    let image = r#"{"id": 7, "file_name": "1.png", "width": 3, "height": 2}"#;
    let empty = r#"{"id": 8, "file_name": "2.png"}"#;
    let object =
        r#"{"id": 1, "image_id": 7, "category_id": 9, "bbox": [1, 0.5, 2, 1.5], "iscrowd": 0}"#;
    let dataset = read(&format!("{image}, {empty}"), object).unwrap();
    let boxes = vec![BoundingBox {
        coords: [1.0, 0.5, 2.0, 1.5],
        label: 1,
    }];
    let expected = [("1.png", boxes), ("2.png", vec![])];
    assert_eq!(
        labels(&dataset),
        expected.map(|(name, boxes)| (name.to_owned(), Annotation::BoundingBoxes(boxes)))
    );

    for (images, annotations, problem) in [
        (
            empty,
            object,
            "objects.json: annotation 0: there is no image 7",
        ),
        (
            image,
            &object.replace('9', "5"),
            "annotation 0: there is no category 5",
        ),
        (&format!("{image}, {image}"), "", "two images have the id 7"),
        (
            &image.replace("1.png", "../1.png"),
            "",
            "the image 7 has the file name \"../1.png\"",
        ),
        (
            &image.replace("1.png", "3.png"),
            "",
            "3.png: there is no such file",
        ),
        (&image.replace("7", "-7"), "", "invalid value: integer `-7`"),
        ("7", "", "objects.json: invalid type: integer `7`"),
    ] {
        let error = read(images, annotations).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn values_keep_the_depth_of_their_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep.png");
    let deep = ImageBuffer::<Luma<u16>, _>::from_raw(2, 1, vec![1u16, 60_000]).unwrap();
    deep.save(&path).unwrap();
    let items = vec![(&path, "x".to_owned())];
    let item = ImageFolderDataset::new_classification_with_items(items, &["x"])
        .unwrap()
        .get(0)
        .unwrap();
    assert_eq!(item.image, PixelData::U16(vec![1, 60_000]));
    assert_eq!(
        item.image.iter().collect::<Vec<_>>(),
        [PixelDepth::U16(1), PixelDepth::U16(60_000)]
    );
    assert!(u8::try_from(PixelDepth::U16(1)).is_err());
    assert!(Vec::<f32>::try_from(item.image.clone()).is_err());
    assert_eq!(Vec::<u16>::try_from(item.image), Ok(vec![1, 60_000]));
    assert!(PixelData::F32(vec![]).is_empty());
}

#[test]
fn a_bad_image_is_an_error_that_names_it() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a/x.png");
    colour(&path);
    let whole = fs::read(&path).unwrap();
    // The first chunk of a PNG has width and height from byte 16 on, and its checksum from 29 on.
    let mut huge = whole.clone();
    huge[16..24].copy_from_slice(&[0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff]);
    let sum = crc(&huge[12..29]);
    huge[29..33].copy_from_slice(&sum.to_be_bytes());
    for bytes in [&whole[..whole.len() / 2], b"no image", b"", &huge] {
        fs::write(&path, bytes).unwrap();
        let error = ImageFolderDataset::new_classification(dir.path())
            .unwrap()
            .get(0)
            .unwrap_err();
        assert!(error.to_string().contains("x.png"), "{error}");
    }
    fs::remove_file(&path).unwrap();
    assert!(
        ImageFolderDataset::new_classification(dir.path())
            .unwrap()
            .is_empty()
    );
    let nothing = ImageFolderDataset::new_classification(dir.path().join("a")).unwrap_err();
    assert!(nothing.to_string().contains("has no folders"), "{nothing}");
    assert!(matches!(
        ImageFolderDataset::new_classification(dir.path().join("no")),
        Err(ImageLoaderError::IOError(_))
    ));
}

/// The checksum of PNG (ISO/IEC 15948, annex D).
fn crc(bytes: &[u8]) -> u32 {
    let step = |sum: u32, _| {
        if sum & 1 == 1 {
            (sum >> 1) ^ 0xedb8_8320
        } else {
            sum >> 1
        }
    };
    !bytes.iter().fold(u32::MAX, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), step)
    })
}

/// An IDX file of bytes.
fn idx(path: &Path, sizes: &[u32], values: &[u8]) {
    let mut bytes = vec![0, 0, 8, sizes.len() as u8];
    bytes.extend(sizes.iter().flat_map(|size| size.to_be_bytes()));
    bytes.extend(values);
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut file = GzEncoder::new(File::create(path).unwrap(), Compression::fast());
        file.write_all(&bytes).unwrap();
        file.finish().unwrap();
    } else {
        fs::write(path, bytes).unwrap();
    }
}

#[test]
fn digits_are_read_from_their_files() {
    let dir = tempfile::tempdir().unwrap();
    for suffix in ["", ".gz"] {
        let [images, labels] =
            ["images", "labels"].map(|name| dir.path().join(format!("{name}{suffix}")));
        let pixels: Vec<u8> = (0..2 * 784).map(|value| value as u8).collect();
        idx(&images, &[2, 28, 28], &pixels);
        idx(&labels, &[2], &[7, 3]);
        let digits = MnistDataset::from_files(&images, &labels).unwrap();
        assert_eq!(digits.len(), 2);
        let digit = digits.get(1).unwrap();
        assert_eq!(
            (digit.label, digit.image[0][0], digit.image[27][27]),
            (3, 16.0, 31.0)
        );
        assert_eq!(digits.get(0).unwrap().image[1][2], 30.0);
    }
}

#[test]
fn bad_files_of_digits_are_errors_that_name_them() {
    let dir = tempfile::tempdir().unwrap();
    let [images, labels] = ["images", "labels"].map(|name| dir.path().join(name));
    idx(&labels, &[2], &[7, 3]);
    for (sizes, count, problem) in [
        (
            &[2, 28, 28][..],
            2 * 784 - 1,
            "there are fewer values than the 1568",
        ),
        (
            &[2, 28, 28],
            2 * 784 + 1,
            "there are more values than the 1568",
        ),
        (
            &[2, 14, 56],
            2 * 784,
            "images have 14 by 56 pixels, not 28 by 28",
        ),
        (
            &[3, 28, 28],
            3 * 784,
            "labels: there are 2 labels for 3 images",
        ),
        (
            &[u32::MAX, u32::MAX, u32::MAX],
            9,
            "which is more than a gigabyte",
        ),
        (
            &[1 << 20, 28, 28],
            9,
            "there are fewer values than the 822083584",
        ),
        (
            &[2],
            2,
            "images: it is no IDX file of bytes with 3 dimensions",
        ),
    ] {
        idx(&images, sizes, &vec![0; count]);
        let error = MnistDataset::from_files(&images, &labels)
            .unwrap_err()
            .to_string();
        assert!(error.contains(problem), "{error}");
    }
}
