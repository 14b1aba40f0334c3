//! One Markdown table from the JSON lines of several runs: a row a workload, a column a label.

use serde_json::Value;
use std::collections::BTreeMap;

/// Prints the table of the files, in the order of their workloads.
pub(crate) fn print(mut args: impl Iterator<Item = String>) {
    let title = args.next().expect("a title");
    let mut rows: Vec<String> = Vec::new();
    let mut columns: Vec<String> = Vec::new();
    let mut cells: BTreeMap<(String, String), String> = BTreeMap::new();
    for file in args {
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"));
        for line in text.lines().filter(|line| line.starts_with('{')) {
            let line: Value =
                serde_json::from_str(line).unwrap_or_else(|error| panic!("{file}: {error}"));
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let (name, peer) = (text("name"), text("peer"));
            let cell = match line["median_ms"].as_f64() {
                Some(median) => format!("{median:.3}"),
                None => text("error"),
            };
            let remember = |list: &mut Vec<String>, item: &String| {
                if !list.contains(item) {
                    list.push(item.clone());
                }
            };
            remember(&mut rows, &name);
            remember(&mut columns, &peer);
            cells.insert((name, peer), cell);
        }
    }
    println!("# {title}\n\nms per call, median, synchronised each call; fresh uniform data.\n");
    println!("| workload | {} |", columns.join(" | "));
    println!("|---|{}", "---:|".repeat(columns.len()));
    for row in rows {
        let cell = |column: &String| {
            cells
                .get(&(row.clone(), column.clone()))
                .cloned()
                .unwrap_or_default()
        };
        println!(
            "| {row} | {} |",
            columns.iter().map(cell).collect::<Vec<_>>().join(" | ")
        );
    }
}
