//! Which crate may depend on which: the architecture's table of rooms.
//!
//! Development dependencies are free, since the tests of a layer need an engine below it.

use super::Finding;
use std::collections::BTreeSet;

/// Each crate with those it may depend on; it may also use what these may reach.
///
/// Some edges are more than the first sketch of the architecture had: `burn-core` loads data and so sees
/// `burn-dataset`; engines name their fusing engine, and `burn-tensor` chooses the engines of a build (record 0010).
const ROOMS: &[(&str, &[&str])] = &[
    ("burn-std", &[]),
    ("burn-ir", &["burn-std"]),
    ("burn-backend", &["burn-ir"]),
    ("burn-flex", &["burn-fusion"]),
    ("burn-cubecl", &["burn-fusion"]),
    ("burn-fusion", &["burn-backend"]),
    ("burn-autodiff", &["burn-backend"]),
    ("burn-capture", &["burn-backend"]),
    ("burn-remote", &["burn-dispatch"]),
    (
        "burn-dispatch",
        &["burn-autodiff", "burn-capture", "burn-remote"],
    ),
    (
        "burn-tensor",
        &["burn-cubecl", "burn-dispatch", "burn-flex"],
    ),
    ("burn-derive", &[]),
    (
        "burn-core",
        &["burn-dataset", "burn-derive", "burn-pack", "burn-tensor"],
    ),
    ("burn-dylib", &["burn-core"]),
    ("burn-nn", &["burn-core"]),
    ("burn-optim", &["burn-core"]),
    ("burn-vision", &["burn-core"]),
    ("burn-signal", &["burn-core"]),
    ("burn-linalg", &["burn-core"]),
    ("burn-dataset", &["burn-std"]),
    ("burn-pack", &["burn-std"]),
    ("burn-store", &["burn-core"]),
    ("burn-train", &["burn-core", "burn-optim"]),
    ("burn-rl", &["burn-train"]),
    ("burn-backend-tests", &["burn-tensor"]),
    (
        "burn",
        &[
            "burn-dylib",
            "burn-linalg",
            "burn-nn",
            "burn-rl",
            "burn-signal",
            "burn-store",
            "burn-train",
            "burn-vision",
        ],
    ),
];

/// Checks manifests, given as path and text.
pub(super) fn check(manifests: &[(String, String)]) -> Vec<Finding> {
    manifests
        .iter()
        .flat_map(|(path, text)| manifest(path, text))
        .collect()
}

fn manifest(path: &str, text: &str) -> Vec<Finding> {
    let finding = |line, what, remedy: &str| Finding {
        path: path.to_owned(),
        line,
        what,
        why: "the rooms of the architecture are fixed".to_owned(),
        remedy: remedy.to_owned(),
    };
    let name = path.rsplit('/').nth(1).unwrap_or_default();
    let Some(allowed) = reach(name) else {
        let what = format!("`{name}` is not in the table of rooms");
        return vec![finding(
            1,
            what,
            "add it to ROOMS in xtask with a decision record",
        )];
    };
    let ours = |dependency: &str| dependency == "burn" || dependency.starts_with("burn-");
    dependencies(text)
        .into_iter()
        .filter(|(_, dependency)| ours(dependency) && !allowed.contains(dependency.as_str()))
        .map(|(line, dependency)| {
            let what = format!("`{name}` may not depend on `{dependency}`");
            finding(
                line,
                what,
                "move the code to where both may see it, or record a new edge",
            )
        })
        .collect()
}

/// Every crate that `name` may depend on; none if it is not in the table.
fn reach(name: &str) -> Option<BTreeSet<&'static str>> {
    let direct = |name: &str| {
        ROOMS
            .iter()
            .find(|(room, _)| *room == name)
            .map(|(_, to)| *to)
    };
    let mut open = direct(name)?.to_vec();
    let mut reached = BTreeSet::new();
    while let Some(room) = open.pop() {
        if reached.insert(room) {
            open.extend(direct(room).unwrap_or_default());
        }
    }
    reached.remove(name);
    Some(reached)
}

/// The packages of a manifest's normal and build dependencies, each with its line from 1.
///
/// Reads what the workspace's manifests use of TOML: a header or a key starts its own line.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut section = Section::Other;
    for (index, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            section = Section::of(header.trim_end_matches(']'));
            if let Section::One(name) = &section {
                found.push((index + 1, name.clone()));
            }
            continue;
        }
        let Some((key, value)) = line.split_once('=') else {
            continue;
        };
        let key = key.trim();
        match section {
            Section::All => {
                let name = key.split('.').next().unwrap_or(key).trim_matches('"');
                found.push((index + 1, package(value).unwrap_or(name).to_owned()));
            }
            Section::One(_) if key == "package" => {
                if let Some((_, name)) = found.last_mut() {
                    *name = value.trim().trim_matches('"').to_owned();
                }
            }
            _ => {}
        }
    }
    found
}

/// What a section of a manifest lists.
enum Section {
    /// `[dependencies]` and its kin: a dependency on each line.
    All,
    /// `[dependencies.name]`: the keys of one dependency.
    One(String),
    Other,
}

impl Section {
    fn of(header: &str) -> Self {
        let parts: Vec<_> = header.split('.').collect();
        let is_table = |part: &str| matches!(part, "dependencies" | "build-dependencies");
        match parts.as_slice() {
            [.., last] if is_table(last) => Self::All,
            [.., table, name] if is_table(table) => Self::One(name.trim_matches('"').to_owned()),
            _ => Self::Other,
        }
    }
}

/// The package that an inline table renames.
fn package(value: &str) -> Option<&str> {
    let (_, rest) = value.split_once("package")?;
    rest.trim_start()
        .strip_prefix('=')?
        .trim_start()
        .strip_prefix('"')?
        .split('"')
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, text: &str) -> Vec<(usize, String)> {
        let findings = manifest(&format!("crates/{name}/Cargo.toml"), text);
        findings
            .into_iter()
            .map(|finding| (finding.line, finding.what))
            .collect()
    }

    #[test]
    fn an_edge_against_the_table_is_found_at_its_line() {
        let text = "[package]\nname = \"burn-ir\"\n\n[dependencies]\nburn-std.workspace = true\n\
                    burn-flex = { workspace = true, optional = true }\n";
        assert_eq!(
            found("burn-ir", text),
            [(6, "`burn-ir` may not depend on `burn-flex`".to_owned())]
        );
    }

    #[test]
    fn what_an_allowed_crate_reaches_is_allowed() {
        assert_eq!(
            found("burn-nn", "[dependencies]\nburn-ir.workspace = true\n"),
            []
        );
        assert_eq!(
            found("burn-flex", "[dependencies]\nburn-std.workspace = true\n"),
            []
        );
        assert_eq!(
            found(
                "burn-fusion",
                "[dependencies]\nburn-flex.workspace = true\n"
            )
            .len(),
            1
        );
    }

    #[test]
    fn tables_targets_and_renames_are_read() {
        for text in [
            "[dependencies.burn-core]\noptional = true\n",
            "[build-dependencies]\nburn-core.workspace = true\n",
            "[target.'cfg(unix)'.dependencies]\nburn-core.workspace = true\n",
            "[dependencies]\ncore = { package = \"burn-core\", path = \"../burn-core\" }\n",
            "[dependencies.core]\npackage = \"burn-core\"\n",
        ] {
            assert_eq!(found("burn-std", text).len(), 1, "{text}");
        }
        assert_eq!(
            found(
                "burn-std",
                "[dev-dependencies]\nburn-core.workspace = true\n"
            ),
            []
        );
        assert_eq!(
            found("burn-std", "[features]\nstd = [\"burn-core/std\"]\n"),
            []
        );
    }

    #[test]
    fn a_crate_outside_the_table_is_found() {
        assert_eq!(
            found("burn-magic", ""),
            [(1, "`burn-magic` is not in the table of rooms".to_owned())]
        );
    }

    #[test]
    fn every_room_is_named_by_the_table() {
        for (name, to) in ROOMS {
            for room in *to {
                assert!(
                    reach(room).is_some(),
                    "`{name}` names the unknown crate `{room}`"
                );
            }
        }
    }
}
