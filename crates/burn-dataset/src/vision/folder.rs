//! Images in files, decoded when they are asked for.

use core::error::Error;
use core::fmt;
use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use image::{DynamicImage, ImageReader};

use super::{Annotation, BoundingBox, ImageDatasetItem, PixelData, SegmentationMask, coco};
use crate::dataset::check_index;
use crate::{Dataset, DatasetError};

/// What files of images end in, as far as their formats are read.
const EXTENSIONS: [&str; 3] = ["jpg", "jpeg", "png"];

/// What can go wrong with a folder of images.
#[derive(Debug)]
pub enum ImageLoaderError {
    /// Anything else.
    Unknown(String),
    /// A file or a folder cannot be read.
    IOError(String),
    /// A file is none of the images that are looked for.
    InvalidFileExtensionError(String),
    /// A file is not what it should be.
    ParsingError(String),
}

impl fmt::Display for ImageLoaderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, text) = match self {
            Self::Unknown(text) => ("images cannot be loaded", text),
            Self::IOError(text) => ("a file cannot be read", text),
            Self::InvalidFileExtensionError(text) => ("a file has the wrong extension", text),
            Self::ParsingError(text) => ("a file is not what it should be", text),
        };
        write!(f, "{kind}: {text}")
    }
}

impl Error for ImageLoaderError {}

/// An error that names the file.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> ImageLoaderError {
    ImageLoaderError::IOError(format!("{}: {error}", path.display()))
}

type Result<T> = core::result::Result<T, ImageLoaderError>;

/// Images in files with what is known of them: PNG and JPEG.
#[derive(Clone, Debug)]
pub struct ImageFolderDataset {
    items: Vec<Item>,
}

/// An image that is not read yet.
#[derive(Clone, Debug)]
struct Item {
    image: PathBuf,
    known: Known,
}

#[derive(Clone, Debug)]
enum Known {
    Label(usize),
    Labels(Vec<usize>),
    Boxes(Vec<BoundingBox>),
    Mask(PathBuf),
}

impl ImageFolderDataset {
    /// The images in the folders of `root`, which are their classes, numbered in the order of their names. Images may be
    /// in folders below.
    ///
    /// # Errors
    /// If a folder cannot be read, or `root` has none.
    pub fn new_classification<P: AsRef<Path>>(root: P) -> Result<Self> {
        Self::new_classification_with(root, &EXTENSIONS)
    }

    /// The same with only those files that end in one of `extensions`.
    ///
    /// # Errors
    /// If a folder cannot be read, `root` has none, or the format of an extension is not read.
    pub fn new_classification_with<P, S>(root: P, extensions: &[S]) -> Result<Self>
    where
        P: AsRef<Path>,
        S: AsRef<str>,
    {
        let root = root.as_ref();
        let extensions = extensions.iter().map(|extension| {
            let extension = extension.as_ref().to_lowercase();
            match EXTENSIONS.contains(&extension.as_str()) {
                true => Ok(extension),
                false => Err(ImageLoaderError::InvalidFileExtensionError(format!(
                    "`{extension}` is not read, only {}",
                    EXTENSIONS.join(", ")
                ))),
            }
        });
        let extensions = extensions.collect::<Result<Vec<_>>>()?;
        let classes: Vec<_> = entries(root)?
            .into_iter()
            .filter(|path| path.is_dir())
            .collect();
        if classes.is_empty() {
            return Err(ImageLoaderError::Unknown(format!(
                "{} has no folders, which would be the classes",
                root.display()
            )));
        }
        let mut items = Vec::new();
        for (label, class) in classes.iter().enumerate() {
            collect(class, &extensions, &mut |image| {
                let known = Known::Label(label);
                items.push(Item { image, known });
            })?;
        }
        Ok(Self { items })
    }

    /// The given images with the names of their classes; `classes` says how these are numbered.
    ///
    /// # Errors
    /// If a file is none of an image, or a class is not listed.
    pub fn new_classification_with_items<P: AsRef<Path>, S: AsRef<str>>(
        items: Vec<(P, String)>,
        classes: &[S],
    ) -> Result<Self> {
        let classes = Classes::new(classes);
        let items = items.iter().map(|(image, class)| {
            let label = classes.label(image.as_ref(), class)?;
            item(image, Known::Label(label))
        });
        items.collect::<Result<_>>().map(|items| Self { items })
    }

    /// The given images with the names of all their classes; `classes` says how these are numbered.
    ///
    /// # Errors
    /// If a file is none of an image, or a class is not listed.
    pub fn new_multilabel_classification_with_items<P: AsRef<Path>, S: AsRef<str>>(
        items: Vec<(P, Vec<String>)>,
        classes: &[S],
    ) -> Result<Self> {
        let classes = Classes::new(classes);
        let items = items.iter().map(|(image, names)| {
            let label = |name: &String| classes.label(image.as_ref(), name);
            let labels = names.iter().map(label).collect::<Result<_>>()?;
            item(image, Known::Labels(labels))
        });
        items.collect::<Result<_>>().map(|items| Self { items })
    }

    /// The given images with their masks: images of one channel and the same size, whose values are numbers of `classes`.
    /// A value beyond them is let through, since many collections mark by one what does not count.
    ///
    /// # Errors
    /// If a file is none of an image.
    pub fn new_segmentation_with_items<P: AsRef<Path>, S: AsRef<str>>(
        items: Vec<(P, P)>,
        _classes: &[S],
    ) -> Result<Self> {
        let items = items.iter().map(|(image, mask)| {
            supported(mask.as_ref())?;
            item(image, Known::Mask(mask.as_ref().to_owned()))
        });
        items.collect::<Result<_>>().map(|items| Self { items })
    }

    /// The images in the folder `images_path` that the COCO file `annotations_json` lists, with their objects. Classes
    /// are numbered in the order of their ids in the file.
    ///
    /// # Errors
    /// If the file cannot be read or contradicts itself, or an image is not there.
    pub fn new_coco_detection<A: AsRef<Path>, I: AsRef<Path>>(
        annotations_json: A,
        images_path: I,
    ) -> Result<Self> {
        let images = coco::read(annotations_json.as_ref())?;
        let items = images.into_iter().map(|(name, boxes)| {
            let image = images_path.as_ref().join(name);
            match image.is_file() {
                true => item(&image, Known::Boxes(boxes)),
                false => Err(ImageLoaderError::IOError(format!(
                    "{}: there is no such file",
                    image.display()
                ))),
            }
        });
        items.collect::<Result<_>>().map(|items| Self { items })
    }
}

impl Dataset<ImageDatasetItem> for ImageFolderDataset {
    fn get(&self, index: usize) -> core::result::Result<ImageDatasetItem, DatasetError> {
        check_index("ImageFolderDataset", index, self.items.len());
        self.items[index].read().map_err(DatasetError::new)
    }

    fn len(&self) -> usize {
        self.items.len()
    }
}

impl Item {
    fn read(&self) -> Result<ImageDatasetItem> {
        let image = decode(&self.image)?;
        let (width, height) = (image.width() as usize, image.height() as usize);
        let annotation = match &self.known {
            Known::Label(label) => Annotation::Label(*label),
            Known::Labels(labels) => Annotation::MultiLabel(labels.clone()),
            Known::Boxes(boxes) => Annotation::BoundingBoxes(boxes.clone()),
            Known::Mask(path) => Annotation::SegmentationMask(mask(path, width, height)?),
        };
        let values = pixels(image).ok_or_else(|| {
            ImageLoaderError::ParsingError(format!(
                "{}: values of this depth are not read",
                self.image.display()
            ))
        })?;
        Ok(ImageDatasetItem {
            image: values,
            image_width: width,
            image_height: height,
            annotation,
            image_path: self.image.display().to_string(),
        })
    }
}

/// Decodes a file by its content, whatever it ends in. The decoder refuses what would take more than 512 MiB.
fn decode(path: &Path) -> Result<DynamicImage> {
    let reader = ImageReader::open(path).and_then(ImageReader::with_guessed_format);
    let image = reader.map_err(|error| unreadable(path, &error))?.decode();
    image.map_err(|error| ImageLoaderError::ParsingError(format!("{}: {error}", path.display())))
}

fn pixels(image: DynamicImage) -> Option<PixelData> {
    Some(match image {
        DynamicImage::ImageLuma8(image) => image.into_raw().into(),
        DynamicImage::ImageLumaA8(image) => image.into_raw().into(),
        DynamicImage::ImageRgb8(image) => image.into_raw().into(),
        DynamicImage::ImageRgba8(image) => image.into_raw().into(),
        DynamicImage::ImageLuma16(image) => image.into_raw().into(),
        DynamicImage::ImageLumaA16(image) => image.into_raw().into(),
        DynamicImage::ImageRgb16(image) => image.into_raw().into(),
        DynamicImage::ImageRgba16(image) => image.into_raw().into(),
        DynamicImage::ImageRgb32F(image) => image.into_raw().into(),
        DynamicImage::ImageRgba32F(image) => image.into_raw().into(),
        _ => return None,
    })
}

fn mask(path: &Path, width: usize, height: usize) -> Result<SegmentationMask> {
    let image = decode(path)?;
    let wrong =
        |problem: &str| ImageLoaderError::ParsingError(format!("{}: {problem}", path.display()));
    if (image.width() as usize, image.height() as usize) != (width, height) {
        let (mask_width, mask_height) = (image.width(), image.height());
        return Err(wrong(&format!(
            "the mask has {mask_width} by {mask_height} pixels, its image {width} by {height}"
        )));
    }
    let mask = match image {
        DynamicImage::ImageLuma8(image) => image.into_raw().into_iter().map(usize::from).collect(),
        DynamicImage::ImageLuma16(image) => image.into_raw().into_iter().map(usize::from).collect(),
        _ => return Err(wrong("a mask has one channel, whose values are classes")),
    };
    Ok(SegmentationMask { mask })
}

/// Classes by their names.
struct Classes<'a>(HashMap<&'a str, usize>);

impl<'a> Classes<'a> {
    fn new<S: AsRef<str>>(classes: &'a [S]) -> Self {
        Self(
            classes
                .iter()
                .enumerate()
                .map(|(label, class)| (class.as_ref(), label))
                .collect(),
        )
    }

    fn label(&self, image: &Path, class: &str) -> Result<usize> {
        self.0.get(class).copied().ok_or_else(|| {
            let image = image.display();
            ImageLoaderError::ParsingError(format!("{image}: the class `{class}` is not listed"))
        })
    }
}

fn item<P: AsRef<Path>>(image: P, known: Known) -> Result<Item> {
    let image = image.as_ref().to_owned();
    supported(&image)?;
    Ok(Item { image, known })
}

fn supported(path: &Path) -> Result<()> {
    match ends_in(path, &EXTENSIONS) {
        true => Ok(()),
        false => Err(ImageLoaderError::InvalidFileExtensionError(format!(
            "{}: only {} are read",
            path.display(),
            EXTENSIONS.join(", ")
        ))),
    }
}

fn ends_in<S: AsRef<str>>(path: &Path, extensions: &[S]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|it| {
        extensions
            .iter()
            .any(|other| it.eq_ignore_ascii_case(other.as_ref()))
    })
}

/// The files below a folder in the order of their names, folder by folder. Links to folders are not followed, so that
/// they cannot lead in circles.
fn collect(folder: &Path, extensions: &[String], found: &mut dyn FnMut(PathBuf)) -> Result<()> {
    for path in entries(folder)? {
        let kind = fs::symlink_metadata(&path).map_err(|error| unreadable(&path, &error))?;
        if kind.is_dir() {
            collect(&path, extensions, found)?;
        } else if ends_in(&path, extensions) && path.is_file() {
            found(path);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let mut paths: Vec<_> = paths
        .collect::<io::Result<_>>()
        .map_err(|error| unreadable(folder, &error))?;
    paths.sort();
    Ok(paths)
}
