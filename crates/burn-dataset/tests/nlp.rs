//! Texts in folders.

use std::fs;

use burn_dataset::Dataset;
use burn_dataset::nlp::{TextDatasetItem, TextFolderDataset};

#[test]
fn folders_are_classes_in_the_order_of_their_names() {
    let dir = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("pos/1.txt", "good"),
        ("neg/2.txt", "bad"),
        ("neg/1.txt", "wörse"),
        ("neg/x.md", "no"),
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let texts = TextFolderDataset::new_classification(dir.path()).unwrap();
    assert_eq!(texts.classes(), ["neg", "pos"]);
    let item = |text: &str, label| TextDatasetItem {
        text: text.to_owned(),
        label,
    };
    let items: Vec<_> = texts.iter().map(|item| item.unwrap()).collect();
    assert_eq!(items, [item("wörse", 0), item("bad", 0), item("good", 1)]);

    fs::write(dir.path().join("neg/1.txt"), b"\xff").unwrap();
    let error = texts.get(0).unwrap_err().to_string();
    assert!(
        error.contains("1.txt: ") && error.contains("UTF-8"),
        "{error}"
    );
    let nothing = TextFolderDataset::new_classification(dir.path().join("pos")).unwrap_err();
    assert!(
        nothing.to_string().contains("pos: it has no folders"),
        "{nothing}"
    );
}
