//! Files of annotations as the COCO collection has them, as far as objects are concerned
//! (<https://cocodataset.org/#format-data>).

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Component, Path};

use serde::Deserialize;

use super::BoundingBox;
use super::folder::{ImageLoaderError, unreadable};

#[derive(Deserialize)]
struct Coco {
    images: Vec<Image>,
    #[serde(default)]
    annotations: Vec<Object>,
    categories: Vec<Category>,
}

#[derive(Deserialize)]
struct Image {
    id: u64,
    file_name: String,
}

#[derive(Deserialize)]
struct Object {
    image_id: u64,
    category_id: u64,
    bbox: [f32; 4],
}

#[derive(Deserialize)]
struct Category {
    id: u64,
}

/// The images of the file in their order, with their objects.
pub(super) fn read(path: &Path) -> Result<Vec<(String, Vec<BoundingBox>)>, ImageLoaderError> {
    let wrong =
        |problem: String| ImageLoaderError::ParsingError(format!("{}: {problem}", path.display()));
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    let coco = serde_json::from_reader(BufReader::new(file));
    let Coco {
        images,
        annotations,
        mut categories,
    } = coco.map_err(|error| wrong(error.to_string()))?;

    categories.sort_by_key(|category| category.id);
    let labels: HashMap<u64, usize> = categories
        .iter()
        .enumerate()
        .map(|(label, category)| (category.id, label))
        .collect();
    let mut places = HashMap::new();
    let mut found = Vec::with_capacity(images.len());
    for Image { id, file_name } in images {
        // A name that leads out of the folder is no name of a file in it.
        let inside = Path::new(&file_name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        if !inside {
            return Err(wrong(format!(
                "the image {id} has the file name {file_name:?}"
            )));
        }
        if places.insert(id, found.len()).is_some() {
            return Err(wrong(format!("two images have the id {id}")));
        }
        found.push((file_name, Vec::new()));
    }
    for (number, object) in annotations.into_iter().enumerate() {
        let Object {
            image_id,
            category_id,
            bbox: coords,
        } = object;
        let place = places.get(&image_id);
        let place = place
            .ok_or_else(|| wrong(format!("annotation {number}: there is no image {image_id}")))?;
        let label = labels.get(&category_id);
        let label = label.ok_or_else(|| {
            wrong(format!(
                "annotation {number}: there is no category {category_id}"
            ))
        })?;
        found[*place].1.push(BoundingBox {
            coords,
            label: *label,
        });
    }
    Ok(found)
}
